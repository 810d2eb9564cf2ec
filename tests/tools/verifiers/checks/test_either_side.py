"""True and false sentences beside one source: the false alone are objected to."""

from __future__ import annotations

import pytest

from factloop.tools.verifiers.alignment import Alignment, align
from factloop.tools.verifiers.checks.all import contradicts, find_mismatch
from factloop.tools.verifiers.reading import read_together
from factloop.tools.verifiers.terms import read_sentences


def aligned(claim: str, evidence: str) -> Alignment:
    return align(read_together(read_sentences(claim)), read_together(read_sentences(evidence)))


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Orla Venn married Peter Ade in 2001.", "Peter Ade married Orla Venn in 2001."),
        ("France borders Spain.", "Spain borders France."),
        ("Anna Holt met Ben Cole in Rome.", "Ben Cole met Anna Holt in Rome."),
        ("Aldous divorced Brenner in 1987.", "Brenner divorced Aldous in 1987."),
        ("Alice sat next to Bob.", "Bob sat next to Alice."),
        ("Tom fought Jim.", "Jim fought Tom."),
        ("The barn stands opposite the shed.", "The shed stands opposite the barn."),
        ("Wine is not cheaper than beer.", "Beer is cheaper than wine."),
        ("The grey fox is not larger than the red fox.", "The red fox is larger than the grey fox."),
        ("Trams do not run more often than buses.", "Buses run more often than trams."),
        ("Tin isn't heavier than copper.", "Copper is heavier than tin."),
        ("Beer is not more expensive than wine.", "Beer is cheaper than wine."),
    ],
)
def test_what_is_true_of_both_sides_is_true_the_other_way_round(claim: str, evidence: str) -> None:
    assert find_mismatch(aligned(claim, evidence)) is None


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Ola Krog defeated Ruth Vane.", "Ruth Vane defeated Ola Krog."),
        ("Velden acquired Norcia in 2014.", "Norcia acquired Velden in 2014."),
        ("Mia Lund taught Karl Berg.", "Karl Berg taught Mia Lund."),
        ("Tom hired Jim.", "Jim hired Tom."),
        ("France invaded Spain in 1808.", "Spain invaded France in 1808."),
        ("The tenant sued the bailiff.", "The bailiff sued the tenant."),
        ("Wine is cheaper than beer.", "Beer is cheaper than wine."),
        ("Beer is not cheaper than wine.", "Beer is cheaper than wine."),
        ("Beer is cheaper than wine.", "Beer is not cheaper than wine."),
        ("Trams run more often than buses.", "Trams do not run more often than buses."),
        ("Copper is not heavier than tin.", "Copper is heavier than tin."),
        ("Wine is not more expensive than beer.", "Beer is cheaper than wine."),
    ],
)
def test_what_holds_one_way_alone_is_contradicted_the_other_way(claim: str, evidence: str) -> None:
    alignment = aligned(claim, evidence)
    mismatch = find_mismatch(alignment)
    assert mismatch is not None
    assert contradicts(alignment, mismatch)


RUN_TOGETHER = (
    "Lake loop 8.5 km 320 m 2 h yes Ridge walk 14 km 1,050 m 6 h no The pass is sold at the station by Ilse Brandt."
)
PLANS = "Export yes yes Audit log no yes Sign-on no no Kestrel keeps logs for 90 days."
HUTS = "Blue Hut 24 no Stone Hut 40 yes Pine Hut 12 no Dogs may sleep in the porch."


@pytest.mark.parametrize(
    ("claim", "evidence", "is_true"),
    [
        ("The pass is sold at the station.", RUN_TOGETHER, True),
        ("Ilse Brandt sells the pass at the station.", RUN_TOGETHER, True),
        ("The Ridge walk is 14 km long.", RUN_TOGETHER, True),
        ("Kestrel keeps logs for 90 days.", PLANS, True),
        ("Dogs may sleep in the porch.", HUTS, True),
        ("The Pine Hut has 12 beds.", HUTS, True),
        ("The pass is not sold at the station.", RUN_TOGETHER, False),
        ("Kestrel does not keep logs for 90 days.", PLANS, False),
        ("Dogs may not sleep in the porch.", HUTS, False),
        ("There is a fee for members.", "There is no fee for members.", False),
        ("In 1990 Germans lived there.", "In 1990 no Germans lived there.", False),
        ("The hut has a shower.", "The hut has 12 beds and no shower.", False),
    ],
)
def test_a_no_in_a_cell_denies_nothing_beside_it(claim: str, evidence: str, is_true: bool) -> None:
    assert (find_mismatch(aligned(claim, evidence)) is None) == is_true


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Port 8080 is blocked by default.", "Port 8080 is open by default."),
        ("The limit was raised in May.", "The limit was lowered in May."),
        ("Tom Reed opposed the plan.", "Tom Reed supported the plan."),
        ("The bridge toll was introduced in 2010.", "The bridge toll was abolished in 2010."),
        ("Sales plunged in 2019.", "Sales soared in 2019."),
        ("The film was criticised by reviewers.", "The film was praised by reviewers."),
        ("The minister confirmed the report.", "The minister denied the report."),
        ("Smoking is allowed in the flat.", "Smoking is prohibited in the flat."),
        ("The fee is mandatory.", "The fee is optional."),
        ("The heater is turned off at night.", "The heater is turned on at night."),
        ("The council voted against the tower.", "The council voted for the tower."),
        ("Jana Roth lost the case.", "Jana Roth won the case."),
        ("The app is available online.", "The app is available offline."),
    ],
)
def test_an_opposite_is_contradicted(claim: str, evidence: str) -> None:
    alignment = aligned(claim, evidence)
    mismatch = find_mismatch(alignment)
    assert mismatch is not None
    assert contradicts(alignment, mismatch)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Port 22 is blocked.", "Port 8080 is open by default; port 22 is blocked."),
        ("The limit was lowered in 2008.", "The limit was raised in 2001 and lowered in 2008."),
        ("Ana Ruiz opposed the plan.", "Tom Reed supported the plan, while Ana Ruiz opposed it."),
        ("Tom Reed supported the plan.", "Tom Reed supported the plan, while Ana Ruiz opposed it."),
        ("The toll was introduced in 1990.", "The toll was introduced in 1990 and abolished in 2010."),
        ("The population rose to 900 by 1980.", "By 1980 the population grew to 900, and then it fell."),
        ("The heater is turned off at night.", "The heater is never turned on at night."),
        ("Smoking is prohibited in the flat.", "Smoking is not allowed in the flat."),
        ("The council granted the permit in June.", "The council refused the permit, then granted it in June."),
        ("Ito lost to Marquez.", "Marquez won against Ito."),
        ("The plant was demolished in 1999.", "The plant was built in 1960 and demolished in 1999."),
    ],
)
def test_an_opposite_said_of_something_else_is_no_mismatch(claim: str, evidence: str) -> None:
    assert find_mismatch(aligned(claim, evidence)) is None


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The light blinks orange during pairing.", "The light blinks blue during pairing."),
        ("The cover is green.", "The cover is red."),
        ("A yellow flag means safe bathing.", "A blue flag means safe bathing."),
        ("The old bus was painted black.", "The old bus was painted white."),
        ("Press the red button to start.", "Press the green button to start."),
        ("Any agent can delete a workspace.", "Only owners can delete a workspace."),
        ("Everyone may borrow books.", "Only members may borrow books."),
        ("Any user can reset passwords.", "Only administrators can reset passwords."),
        ("Anyone may park in the yard.", "Only residents may park in the yard."),
        ("All visitors can enter the cave.", "Only adults can enter the cave."),
        ("The tax rate is 19%.", "The tax rate was cut from 19% to 16%."),
        ("The limit is 50 km/h.", "The limit was raised from 50 to 80 km/h."),
        ("The fee is 20 euros.", "The fee rose from 20 to 25 euros."),
        ("The staff is 40 people.", "The staff grew from 40 to 64 people."),
        ("The price is 9 dollars.", "The price fell from 9 to 7 dollars."),
        ("Retention is 30 days.", "Retention was extended from 30 days to 90 days."),
        ("Half of the patients had nausea.", "42 patients (21%) had nausea."),
        ("Half of the members voted.", "About 12% of the members voted."),
        ("Half of patients had nausea.", "21% of patients had nausea."),
        ("Half of the seats are sold.", "25% of the seats are sold."),
        ("A quarter of the seats are sold.", "80% of the seats are sold."),
        ("A third of the homes have gas.", "60% of the homes have gas."),
    ],
)
def test_another_value_of_one_attribute_is_contradicted(claim: str, evidence: str) -> None:
    alignment = aligned(claim, evidence)
    mismatch = find_mismatch(alignment)
    assert mismatch is not None
    assert contradicts(alignment, mismatch)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The light blinks blue during pairing.", "The light blinks blue during pairing."),
        ("The flag is red.", "The flag is red and white."),
        ("The light blinks orange on an error.", "The light blinks blue during pairing and orange on an error."),
        ("The light blinks blue during pairing.", "The light blinks blue during pairing and orange on an error."),
        ("The lamp is white.", "The red cover protects the white lamp."),
        ("The house has a red door.", "The house is white with a red door."),
        ("The vans are yellow.", "The cars are grey, the vans yellow."),
        ("The bag comes in black.", "The bag comes in black or navy."),
        ("Owners can delete a workspace.", "Only owners can delete a workspace."),
        ("A workspace can only be deleted by owners.", "Only owners can delete a workspace."),
        ("Any agent can edit a ticket.", "Any agent can edit a ticket. Only owners can delete a workspace."),
        ("Anyone may enter the garden.", "Anyone may enter the garden, but only members may pick fruit."),
        ("All visitors can enter the cave.", "All visitors can enter the cave; only adults can dive."),
        ("Members may borrow books.", "Only members may borrow books."),
        ("The tax rate is 16%.", "The tax rate was cut from 19% to 16%."),
        ("The limit is 80 km/h.", "The limit was raised from 50 to 80 km/h."),
        ("The fee was 20 euros.", "The fee rose from 20 to 25 euros."),
        ("The tax rate was 19%.", "The tax rate was cut from 19% to 16%."),
        ("The tax rate was cut from 19% to 16%.", "The tax rate was cut from 19% to 16%."),
        ("The fee is 20 euros at least.", "The fee ranges from 20 to 25 euros."),
        ("The desk is open from 9.", "The desk is staffed from 9 to 17."),
        ("The train leaves from platform 3.", "The train runs from platform 3 to platform 9."),
        ("A third of the wood was lost.", "30 percent of the wood was lost."),
        ("Half of the members voted.", "50% of the members voted."),
        ("About half of the members voted.", "49.6% of the members voted."),
        ("A quarter of the seats are sold.", "25% of the seats are sold."),
        ("More than half of the rivers are clean.", "52% of the rivers are clean."),
        ("In the second half, 21% of shots hit.", "In the second half, 21% of shots hit."),
        ("Half of the members are women.", "Half of the members are women, and 12% are under 30."),
    ],
)
def test_a_value_of_another_thing_or_time_is_no_mismatch(claim: str, evidence: str) -> None:
    assert find_mismatch(aligned(claim, evidence)) is None


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        (
            "The rule was introduced by Ben Cole, not by Ana Ruiz.",
            "The rule was introduced by Ana Ruiz, not by Ben Cole.",
        ),
        ("The song was written by Berg, not by Lund.", "The song was written by Lund, not by Berg."),
        ("The song was written by Berg.", "The song was written by Lund, not by Berg."),
        ("The bridge was designed by Karl Renn.", "The bridge was designed by Ada Voss and not by Karl Renn."),
        ("It was found by Hale.", "It was found not by Hale but by Okoro."),
        (
            "The hall was paid for by the town, not by the guild.",
            "The hall was paid for by the guild, not by the town.",
        ),
        (
            "The museum opens on Mondays but not on Sundays.",
            "The museum opens on Sundays. It does not open on Mondays.",
        ),
        ("The fee covers parking but not breakfast.", "The fee covers breakfast. It does not cover parking."),
        ("The app runs on Windows but not on Linux.", "The app runs on Linux. It does not run on Windows."),
        ("The fee covers breakfast but not parking.", "The fee covers breakfast and parking."),
    ],
)
def test_what_a_contrast_denies_is_not_said(claim: str, evidence: str) -> None:
    assert find_mismatch(aligned(claim, evidence)) is not None


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The song was written by Lund.", "The song was written by Lund, not by Berg."),
        ("The song was not written by Berg.", "The song was written by Lund, not by Berg."),
        ("The song was written by Lund, not by Berg.", "The song was not written by Berg but by Lund."),
        (
            "The rule was introduced by Ana Ruiz, not by Ben Cole.",
            "The rule was introduced by Ana Ruiz, not by Ben Cole.",
        ),
        ("It was found by Okoro.", "It was found not by Hale but by Okoro."),
        ("The bridge was designed by Ada Voss.", "The bridge was designed by Ada Voss and not by Karl Renn."),
        ("The guild paid for the hall.", "The hall was paid for by the guild, not by the town."),
        ("The router supports Wi-Fi 6 but not Wi-Fi 6E.", "The router supports Wi-Fi 6; it does not support Wi-Fi 6E."),
        (
            "The museum opens on Sundays but not on Mondays.",
            "The museum opens on Sundays. It does not open on Mondays.",
        ),
        ("The fee covers breakfast but not parking.", "The fee covers breakfast. It does not cover parking."),
        (
            "Dogs are allowed in the garden but not in the house.",
            "Dogs are allowed in the garden; they are not allowed in the house.",
        ),
        ("The app runs on Linux, but not on Windows.", "The app runs on Linux. It does not run on Windows."),
        ("The camera records sound but no video.", "The camera records sound; it does not record video."),
        ("The project can never be restored.", "Deleted projects can never be restored, not even by staff."),
    ],
)
def test_a_contrast_denies_its_phrase_alone(claim: str, evidence: str) -> None:
    assert find_mismatch(aligned(claim, evidence)) is None
