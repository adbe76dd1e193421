"""The wording of both prompts in English, the released tasks' default language."""

ROLE = "You are an expert in the geography of Japan and in the analysis of journeys."
NAMES = (
    "Osaka",
    "Izumisano",
    "Osaka",
    "Kansai International Airport",
    "Namba Station",
    "Glico Running Man Sign",
    "Kukuru Dotonbori",
)

NODE = """{role}
Watch the video of a journey in Japan and list every location that was visited.

Levels:
1. Prefecture (都道府県): Tokyo, Osaka, Hokkaido and so on.
2. City (the 23 wards of Tokyo, 市町村): a municipality, such as Shibuya, Yokohama, Hakone or Shirakawa.
3. Point of interest (POI): one named place, such as a sight, station, restaurant, shop, park or museum.

Rules:
1. Each location stands once in its list.
2. Give the most specific name there is evidence for, the branch of a business included ("Starbucks Shibuya
   Tsutaya" rather than "Starbucks").
3. List only what signs, logos, buildings, speech or announcements show. Do not guess.
4. What belongs to a POI, as a museum's gift shop does, is not listed; a separate business inside a larger
   complex, as a cafe in a shopping mall or station, is.
5. Areas that nobody runs as one thing, such as districts ("Minato Mirai", "Kokusai Dori"), are no POIs.
6. Write each POI as "Name (category)", with the one best category of this list:
{categories}

Answer with one JSON object:
```json
{{"prefectures": ["…"], "cities": ["…"], "points_of_interest": ["…"]}}
```
Example, for an arrival at Kansai International Airport, a train to Osaka, the Glico sign and a dinner in
Dotonbori:
```json
{node_example}
```
{closing}"""

EDGE = """{role}
Watch the video of a journey in Japan. From the order in which the locations were visited, build a directed
graph that tells what lies in what and what was visited after what.

These locations were visited; the lists are not in the order of time:
```json
{given}
```

Edges:
1. inclusion: from the larger to the smaller: a prefecture to a city (Osaka → Osaka), a city to a POI
   (Shibuya → Shibuya Station), a POI to a part of it (AEON MALL Zama → AEON Cinema Zama).
2. transition: from the earlier to the later, between two locations of one level: prefectures (Osaka →
   Hiroshima), cities of one prefecture (Shibuya → Shinjuku), POIs of one city (Tokyo Tower → Odaiba Marine
   Park).

Rules:
1. Every city gets an inclusion edge from its prefecture, every POI from its city, and every part of a POI
   from that POI.
2. Locations of one level that were visited one after the other get a transition edge. A step from a POI in
   one city to a POI in another is drawn between the two cities instead, and a step from a city in one
   prefecture to a city in another between the two prefectures.
3. Use the names exactly as they are given; change, add or infer none.
4. "Unknown (category)" stands for a POI that could not be identified; use it in edges like any name.

Answer with one JSON object:
```json
{{"edges": [{{"source": "…", "target": "…", "type": "inclusion | transition"}}]}}
```
Example, for an arrival at Kansai International Airport, a train to Osaka, the Glico sign and a dinner in
Dotonbori:
```json
{edge_example}
```
{closing}"""
