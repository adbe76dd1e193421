"""Units of length, time, speed, angle, area, volume, mass, temperature and share, and how they convert."""

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A unit of what `of` names; a value times `factor`, plus `offset`, is in the first unit of that kind.

    All names of a unit lead to one object.
    """

    of: str
    factor: float
    offset: float = 0.0


def _units() -> Mapping[str, Unit]:
    table: dict[str, dict[str, float]] = {
        "length": {
            "m metre metres meter meters": 1,
            "km kilometre kilometres kilometer kilometers": 1000,
            "dm decimetre decimetres decimeter decimeters": 0.1,
            "µm μm": 1e-6,
            "cm centimetre centimetres centimeter centimeters": 0.01,
            "mm millimetre millimetres millimeter millimeters": 0.001,
            "mi mile miles": 1609.344,
            "ft foot feet": 0.3048,
            "yd yard yards": 0.9144,
            "in inch inches": 0.0254,
            "nmi": 1852,
        },
        "time": {
            "s sec secs second seconds": 1,
            "ms millisecond milliseconds": 0.001,
            "min mins minute minutes": 60,
            "h hr hrs hour hours": 3600,
            "d day days": 86_400,
            "week weeks": 604_800,
        },
        "speed": {
            "m/s mps m/sec": 1,
            "km/h kmh kph kmph km/hr": 1 / 3.6,
            "mph mi/h": 0.44704,
            "kn knot knots kt": 1852 / 3600,
            "ft/s": 0.3048,
        },
        "angle": {"deg ° degree degrees": 1, "rad radian radians": 180 / math.pi, "turn turns": 360},
        "area": {
            "m2 m² sqm": 1,
            "km2 km² sqkm": 1e6,
            "cm2 cm²": 1e-4,
            "ha hectare hectares": 1e4,
            "ft2 ft² sqft": 0.09290304,
            "acre acres": 4046.8564224,
            "mi2 mi²": 2_589_988.110336,
        },
        "volume": {"m3 m³": 1, "l litre litres liter liters": 1e-3, "ml cm3 cm³": 1e-6},
        "mass": {
            "kg kilogram kilograms": 1,
            "g gram grams": 1e-3,
            "t tonne tonnes": 1000,
            "lb lbs pound pounds": 0.45359237,
        },
        "share": {"% percent per-cent": 0.01},
        "pixels": {"px pixel pixels": 1},
        "steps": {"step steps block blocks cell cells tile tiles pace paces": 1},
    }
    units: dict[str, Unit] = {}
    for of, kinds in table.items():
        for names, factor in kinds.items():
            units |= dict.fromkeys(names.split(), Unit(of, factor))
    units |= dict.fromkeys(("°c", "celsius"), Unit("temperature", 1, 273.15))
    units |= dict.fromkeys(("°f", "fahrenheit"), Unit("temperature", 5 / 9, 459.67 * 5 / 9))
    units |= {"kelvin": Unit("temperature", 1)}
    return units


UNITS = _units()


# Names beside the English ones, for replies in other languages.
_ELSEWHERE: Mapping[str, str] = {
    "m": "metro metros metri mètre mètres метр метра метров м 米 公尺 メートル 미터",
    "km": "kilometro kilometros kilómetro kilómetros chilometro chilometri quilômetro quilômetros "
    "kilomètre kilomètres км километр километра километров 公里 千米 キロメートル 킬로미터",
    "cm": "zentimeter centímetro centímetros centimètre centimètres см "
    " сантиметров 厘米 センチメートル 센티미터",
    "mm": "мм 毫米",
    "mi": "meile meilen milla millas milha milhas mille milles миль мили 英里 マイル 마일",
    "s": "sekunde sekunden segundo segundos secondo secondi seconde secondes seconden "
    "секунд секунды секунда с 秒 초",
    "min": "minuten minuto minutos minuti минут минуты минута мин 分钟 分鐘 分 분",
    "h": "std stunde stunden ora ore uur hora horas heure heures час часа часов ч 小时 小時 時間 시간",
    "d": "tag tage tagen día días dia dias jour jours день дня дней 天 日 일",
    "km/h": "км/ч 公里/小时 千米/小时",
    "m/s": "м/с",
    "deg": "grad grado grados graus degré degrés градус градуса градусов 度 도",
    "kg": "кг 公斤 千克",
    "%": "prozent процент процентов",
}
_FOREIGN = {word: UNITS[name] for name, words in _ELSEWHERE.items() for word in words.split()}
_WITHOUT_SPACES = sorted((word for word in _FOREIGN if ord(word[0]) > 0x3000), key=len, reverse=True)


def unit_of(word: str) -> Unit | None:
    """The unit that a word names; None where it names none.

    >>> unit_of("KM") == unit_of("kilometres"), unit_of("apples") is None, unit_of("метров") == unit_of("m")
    (True, True, True)
    """
    if word in UNITS:
        return UNITS[word]
    plain = word.casefold().rstrip(".,;)").replace(" ", "")
    return UNITS.get(plain) or _FOREIGN.get(plain)


def unit_in(text: str) -> tuple[Unit | None, int]:
    """The unit with which a text without spaces begins, as in Chinese, and how many characters name it.

    >>> unit_in("米的距离")[1], unit_in("apples")
    (1, (None, 0))
    """
    names = () if text.isascii() else _WITHOUT_SPACES
    name = next((name for name in names if text.startswith(name)), "")
    return _FOREIGN.get(name), len(name)


def converted(value: float, unit: Unit, to: Unit) -> float:
    """A value in another unit of the same kind.

    >>> round(converted(3.0, UNITS["km"], UNITS["m"])), round(converted(20, UNITS["°c"], UNITS["°f"]))
    (3000, 68)
    """
    return (value * unit.factor + unit.offset - to.offset) / to.factor
