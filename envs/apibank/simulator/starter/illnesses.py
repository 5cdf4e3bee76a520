"""Symptoms, what may lie behind them, and first aid. Made for practice with tools, not for anyone who is ill."""

from __future__ import annotations

from callgym.envs.apibank.simulator.starter.text_table import rows

__all__ = ["symptoms"]

_ILLNESSES = """
sore throat | Throat infection | Germs, mostly viruses, inflame the throat; swallowing hurts for some days. | Drink
    warm things, suck lozenges, and see a doctor if breathing gets hard.
sore throat | Strained voice | Long shouting or singing has tired the vocal cords. | Rest the voice for two days and
    keep the air moist.
nosebleed | Dry nose | Heated air has made the lining of the nose brittle. | Sit leaning forward and pinch the soft
    part of the nose for ten minutes.
nosebleed | Raised blood pressure | Pressure in small vessels is higher than they can bear. | Stop the bleeding as
    usual, stay calm and have the pressure measured.
sunburn | Mild sunburn | Red and hot skin after hours in the sun. | Cool with wet cloths, go into the shade and drink
    water.
sunburn | Sun poisoning | Burned skin with blisters, chills and nausea. | Bring the person into a cool room and call a
    doctor.
hiccups | Simple hiccups | Short cramps of the diaphragm after a hasty meal. | Sip cold water slowly or hold the
    breath for a moment.
hiccups | Acid reflux | Acid from the stomach tickles the nerve of the diaphragm. | Sit upright, eat small portions
    and ask a doctor if it lasts two days.
bee sting | Local reaction | A painful swelling around the sting. | Scrape the sting out at once and cool the place.
bee sting | Allergic shock | Rash, swollen face or short breath soon after the sting. | Call an ambulance, use an
    adrenaline pen if there is one, lay the person down.
sprained ankle | Stretched ligament | The joint was twisted and hurts, but it carries weight. | Rest, ice, a bandage,
    and keep the foot high.
sprained ankle | Broken bone | Strong pain, and no step is possible. | Do not move the foot and have it looked at in
    hospital.
toothache | Tooth decay | A hole in the tooth has reached the nerve. | Rinse with warm salt water and see a dentist
    soon.
toothache | Gum abscess | Pus under the gum; the cheek swells. | Cool from outside and see a dentist the same day.
earache | Middle ear infection | Germs and pressure behind the eardrum, often with a cold. | Keep warm, take something
    for the pain, see a doctor within a day.
earache | Ear wax plug | Hardened wax presses in the ear canal. | Let warm oil soften it; never use cotton buds.
dizziness | Low blood pressure | The head gets too little blood after standing up fast. | Lie down with raised legs,
    then drink water.
dizziness | Positional vertigo | Loose crystals in the inner ear make the room spin. | Sit still until it passes; a
    doctor can treat it with turning movements.
heartburn | Reflux of acid | Stomach acid rises behind the breastbone, often at night. | Sleep with a raised head and
    leave out late meals.
heartburn | Heart attack | A burning feeling can also come from the heart. | Call an ambulance if it spreads to arm or
    jaw.
blister | Friction blister | Tight shoes have lifted the skin off. | Leave it closed, pad it and change the shoes.
blister | Burn blister | Heat has damaged the upper skin. | Cool under running water for some minutes and cover it
    loosely.
muscle cramp | Lack of salt | Sweating has washed salt out. | Stretch the muscle gently and drink water with a pinch
    of salt.
muscle cramp | Tired muscle | More exercise than the muscle is used to. | Massage it, keep it warm and take a day of
    rest.
itchy eyes | Hay fever | Pollen irritates eyes and nose every spring. | Rinse the face, close the windows, use eye
    drops.
itchy eyes | Tired eyes | Hours in front of a screen have dried them out. | Look into the distance and blink often.
dry cough | Cold | The end of a cold leaves the airways sore. | Drink much, take honey at night.
dry cough | Asthma | Airways narrow from time to time; breathing whistles. | Sit up, use the inhaler, call for help if
    it does not work.
motion sickness | Travel sickness | Eyes and balance disagree in a car or on a boat. | Look at the horizon and get
    fresh air.
motion sickness | Migraine | An attack can begin with nausea on journeys. | Lie in a dark and quiet place.
splinter | Splinter in the skin | A piece of wood sits under the surface. | Pull it out with clean tweezers along its
    own direction.
splinter | Infected splinter | The place is red, warm and throbs. | Clean it and let a doctor take the rest out.
cold fingers | Chilled hands | Wet gloves and wind have cooled the hands. | Warm them slowly under the arms, not on a
    stove.
cold fingers | Finger vessel spasm | Vessels close and fingers turn white when it is cool. | Move the hands, keep them
    dry and ask a doctor.
"""


def symptoms() -> dict[str, list[dict[str, str]]]:
    """Symptom, in lower case, to illnesses: name, description and first aid."""
    found: dict[str, list[dict[str, str]]] = {}
    for symptom, name, description, aid in rows(_ILLNESSES):
        found.setdefault(symptom, []).append({"name": name, "description": description, "aid": aid})
    return found
