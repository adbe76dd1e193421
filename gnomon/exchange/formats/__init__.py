"""The formats that come with the kernel; each module is one. Others come as plug-ins."""
