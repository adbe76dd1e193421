"""What the reference model assumes before any observation.

None depends on a camera, a target or a question. Where a comment lists values, one of them was fitted.
"""

WALKER_MPS, WALKER_ERROR_MPS = 1.34, 0.26  # walkers on the level (Weidmann 1993)
VEHICLE_MPS = 10.0  # 10, 12, 14
VEHICLE_ERROR_MPS = 3.0  # of a town street with its lights
VEHICLE_SEEN_M = 60.0  # detection range of a car: 60, 80
# How far off a forecast start is; for vehicles at once, and by the second on the way.
WALKER_START_S = 1.0  # 1, 2, 3
VEHICLE_START_S = 0.1  # 0.1, 1
VEHICLE_START_SHARE = 0.4  # 0, 0.2, 0.4
# How far off the logarithm of a stay's length is, and how long people pause besides, on average.
WALKER_LENGTH = 0.7  # 0.3, 0.5, 0.7
VEHICLE_LENGTH = 0.5  # 0.2, 0.3, 0.5
WALKER_PAUSE_S = 3.0  # 0, 3, 6
BEHIND_COST = 3.0  # an option right behind the target counts as (1 + this) times as far
MEETING_SOON_S = 10.0  # a meeting so much later is less likely by a factor e: 5, 10, 20
