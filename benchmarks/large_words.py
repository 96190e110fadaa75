"""The words that `large_schema.py` makes its tables and questions of; written before retrieval was tuned.

An entity is `name (what else people call it): attribute=paraphrase/paraphrase, ... > what it refers to`; an attribute
that ends in `#` holds numbers, one in `@` dates. How a domain spells its names is the second word of its first line:
`plain` orders.total_amount, `short` txn_hdr.pmt_amt, `camel` PatientVisit.admissionDate, `upper` WRK_ORD.STRT_DT,
`own` students.stu_birth_date. The third is the prefix of its tables.
"""

from __future__ import annotations

from typing import Final

DOMAINS: Final = """
sales plain
customer (client, buyer, shopper): full name=name, email address=mail/e-mail, phone number=telephone, city=town, segment=tier, credit limit=maximum credit#, birth date=birthday@ > sales region
order (purchase, sale): order date=day of purchase@, status=state, total amount=value/sum#, ship date=dispatch day@, discount rate=rebate#, currency code=money > customer, sales representative, store
order line (item ordered, purchased item): quantity=number of units/how many#, unit price=cost per piece#, line total=sum of the line#, gift wrapped=wrapping > order, product
product (article, good, merchandise): product name=title, list price=cost#, brand=make, weight=mass/heaviness#, color=colour/shade, launch date=release@ > product category, vendor
product category (kind of article, assortment group): category name=label, margin target=desired profit# >
vendor (supplier, provider): company name=firm, country=nation, rating=score#, payment terms=conditions of payment >
store (shop, outlet, branch): store name=name, opening date=inauguration@, floor area=size/surface#, manager name=head, city=town > sales region
sales region (territory, area of sales): region name=label, country=nation, quota=target# >
sales representative (seller, salesperson): full name=name, hire date=start of employment@, commission rate=bonus share#, quota=target# > sales region
return (refund request, item sent back): return date=day it came back@, reason=cause/why, refund amount=money back#, condition=state > order line
coupon (voucher, promotion code): code=token, discount percent=rebate#, expiry date=end of validity@, usage limit=allowed uses# > product category
cart (basket): created date=start@, item count=number of pieces#, abandoned=left behind, session key=visit > customer
wishlist (list of desired articles): list name=title, visibility=privacy, added date=day of adding@ > customer, product
price list (tariff, rate card): list name=title, valid from=start@, valid to=end@, markup=surcharge# > sales region
gift card (prepaid card): balance=money left#, issue date=day of issue@, pin=secret number > customer
loyalty account (bonus programme membership): points balance=collected points#, tier=level, enrolment date=joining@ > customer
review (customer opinion, product feedback): stars=rating#, headline=title, body text=comment, posted date=day of writing@ > product, customer

hr plain hr_
employee (worker, staff member, member of personnel): first name=given name, last name=surname/family name, hire date=day of joining@, birth date=birthday@, gender=sex, salary=pay/earnings# > department, job title, work site
department (division, unit): department name=name, budget=funds#, cost center=accounting unit, headcount=number of people# > work site
job title (position, role): title=name, minimum salary=lowest pay#, maximum salary=highest pay#, grade=level >
work site (office, location of work): site name=name, street=road, postal code=zip, country=nation, capacity=number of seats# >
leave request (vacation application, holiday request): start date=first day@, end date=last day@, leave type=kind of absence, approval status=decision, days requested=length# > employee
payslip (salary statement, wage slip): period=month, gross pay=earnings before tax#, net pay=take-home money#, tax withheld=deducted tax# > employee
timesheet (record of working hours): work date=day@, hours worked=time spent#, overtime hours=extra time#, approved=confirmed > employee, project assignment
project assignment (posting to a project): role=function, allocation percent=share of time#, start date=beginning@, end date=finish@ > employee, department
performance review (appraisal, annual evaluation): review date=day@, overall score=mark/rating#, goals met=achieved targets#, reviewer comment=remarks > employee
job applicant (candidate, jobseeker): full name=name, source=channel, years of experience=length of career#, desired salary=pay wanted#, stage=step > job opening
job opening (vacancy, open position): title=name, posted date=publication@, closing date=deadline@, number of seats=places# > department, job title
interview (talk with a candidate): interview date=day@, format=mode, score=mark#, outcome=result > job applicant, employee
training course (workshop, class for staff): course name=title, duration hours=length#, provider=organiser, cost=fee# >
training enrolment (registration for a workshop): enrolment date=sign-up@, completed=finished, grade=mark# > training course, employee
benefit plan (perk, fringe benefit): plan name=title, monthly premium=contribution#, coverage level=extent >
benefit election (choice of a perk): effective date=start@, dependents=family members covered# > employee, benefit plan
disciplinary action (warning, sanction): action date=day@, severity=seriousness, description=details > employee

finance short fin_
general ledger account (ledger account, bookkeeping account): account number=number, account name=label, account type=kind, balance=amount left#, currency=money > cost center
journal entry (posting, booking): posting date=day of booking@, amount=sum#, debit credit=side, description=text, fiscal period=accounting month > general ledger account, ledger book
ledger book (set of books): book name=title, base currency=main money, closing date=end@ > legal entity
legal entity (company, corporation): entity name=name, tax number=fiscal identifier, country=nation, incorporation date=founding@ >
cost center (accounting unit): center name=label, owner=responsible person, annual budget=yearly funds# > legal entity
customer invoice (bill, bill sent to a client): invoice number=bill number, invoice date=billing day@, due date=deadline@, total amount=sum#, payment status=paid or not > legal entity, billing customer
billing customer (debtor): customer name=name, credit rating=solvency, outstanding balance=debt# > payment term
payment (settlement, money transfer): payment date=day of transfer@, amount=sum#, payment method=way of paying, reference number=identifier > customer invoice, bank account
bank account (account at a bank): iban=international number, bank name=institute, opening balance=money at the start#, currency=money > legal entity
payment term (condition of payment): term name=label, net days=days until due#, early discount=rebate for quickness# >
supplier bill (incoming invoice, payable): bill date=day@, due date=deadline@, total amount=sum#, approved by=authoriser > legal entity, cost center
expense report (travel claim, reimbursement claim): submitted date=day of filing@, total amount=sum#, purpose=reason, status=state > cost center
expense item (single outlay, receipt): expense date=day@, category=kind, amount=sum#, merchant=where it was spent > expense report
fixed asset (capital good, equipment owned): asset name=label, purchase price=acquisition cost#, useful life=years of use#, acquisition date=day of buying@ > cost center, general ledger account
depreciation (loss of value, write-off): period=month, depreciation amount=lost value#, book value=remaining worth# > fixed asset
budget (spending plan): fiscal year=year, planned amount=target sum#, actual amount=spent sum#, version=revision > cost center, general ledger account
tax code (kind of tax, levy): tax name=label, rate=percentage#, jurisdiction=authority >
exchange rate (conversion rate of money): rate date=day@, from currency=source money, to currency=target money, rate=factor# >

logistics short
shipment (delivery, consignment): ship date=dispatch day@, arrival date=day of arrival@, gross weight=mass#, freight cost=transport fee#, tracking number=trace identifier > carrier, warehouse, shipping route
carrier (haulier, transport company): carrier name=name, transport mode=way of transport, insurance amount=cover#, rating=score# >
warehouse (depot, storehouse): warehouse name=name, capacity=space#, street address=road, city=town, temperature controlled=cooled >
warehouse bin (storage spot, shelf): aisle=row, level=height#, max weight=load allowed# > warehouse
stock item (inventory article, goods in store): sku=article identifier, quantity on hand=amount in stock#, reorder point=minimum stock#, last count date=day of last inventory@ > warehouse bin, stock material
stock material (material): material name=label, unit of measure=unit, hazard class=danger, shelf life=days of keeping# >
stock movement (transfer of goods): movement date=day@, quantity=amount#, movement type=kind, reason=cause > stock item
shipping route (way, itinerary): origin=from where, destination=to where, distance=length in km#, transit days=time on the way# >
vehicle (truck, lorry): plate number=licence, model=type, mileage=distance driven#, fuel type=kind of fuel, purchase date=day of buying@ > carrier
driver (chauffeur, trucker): driver name=name, license number=permit, license expiry=end of permit@, phone number=telephone > carrier
trip (journey, drive): departure time=start@, arrival time=end@, distance=length#, fuel used=consumption# > vehicle, driver, shipping route
pallet (skid): pallet number=identifier, height=tallness#, gross weight=mass# > shipment
customs declaration (border paper): declaration date=day@, tariff code=duty class, declared value=worth#, duty amount=fee at the border# > shipment
delivery attempt (try to hand over): attempt date=day@, outcome=result, recipient name=who took it > shipment
packing list (contents of a package): package count=number of boxes#, remarks=notes, net weight=mass without box# > shipment
dock appointment (loading slot): scheduled time=planned hour@, dock number=gate, duration=length# > warehouse, carrier
freight quote (transport offer): quote date=day@, quoted price=offered cost#, valid until=end@ > carrier, shipping route

health camel
patient (sick person, person in care): full name=name, birth date=birthday@, gender=sex, blood type=blood group, phone number=telephone, insurance number=policy > insurer
physician (doctor, medic): full name=name, specialty=field, license number=permit, years in practice=experience# > clinic department
clinic department (ward, hospital unit): department name=label, floor=storey#, bed count=number of beds# > hospital
hospital (clinic, medical center): hospital name=name, city=town, founded=year of opening#, emergency room=casualty >
admission (hospital stay, inpatient case): admission date=day of arrival@, discharge date=day of release@, reason=cause, bed number=place > patient, clinic department
appointment (consultation, visit): scheduled time=planned hour@, duration=length#, visit reason=cause, no show=did not come > patient, physician
diagnosis (finding, illness found): icd code=classification, description=text, severity=seriousness, diagnosed on=day@ > patient, physician
prescription (prescribed drug, medication order): dosage=strength, frequency=how often, start date=first day@, refills=repetitions# > patient, physician, medication
medication (drug, medicine): drug name=label, active substance=ingredient, form=shape, unit price=cost# >
lab test (laboratory analysis, blood work): test name=label, sample date=day of sampling@, result value=outcome#, reference range=normal values > patient, physician
surgery (operation): surgery date=day@, procedure name=kind of operation, duration minutes=length#, anesthesia type=narcosis > patient, physician, operating room
operating room (theatre): room number=identifier, equipment level=outfit, last cleaned=cleaning@ > hospital
insurer (health insurance company): insurer name=label, plan type=kind of plan, hotline=telephone >
insurance claim (reimbursement case): claim date=day of filing@, claimed amount=sum asked#, paid amount=sum granted#, claim status=state > patient, insurer
vaccination (shot, immunisation): vaccine name=label, dose number=which shot#, given date=day@, lot number=batch > patient
allergy (hypersensitivity): allergen=trigger, reaction=symptom, severity=seriousness > patient
nurse (caregiver): full name=name, shift=working time, certification=qualification > clinic department

education own
student (pupil, learner): full name=name, birth date=birthday@, enrolment year=year of entry#, grade point average=mean mark#, nationality=citizenship > study program
teacher (instructor, lecturer, professor): full name=name, office room=bureau, hire date=joining@, salary=pay#, academic rank=title > faculty
faculty (school within the university): faculty name=label, building=house, dean name=head, founding year=start# >
study program (degree course, major): program name=title, degree level=kind of degree, credits required=points needed#, tuition fee=cost# > faculty
course (subject, class): course title=name, credits=points#, language=tongue, level=difficulty > faculty
course section (class held in a term): term=semester, room=place, seat limit=maximum participants#, schedule=hours > course, teacher
course registration (student signing up for a class): registration date=day@, final grade=mark#, attendance rate=presence# > student, course section
exam (test, examination): exam date=day@, maximum score=best possible mark#, duration minutes=length#, exam type=kind > course section
exam result (mark achieved in a test): score=points#, passed=success, attempt number=which try# > exam, student
scholarship (grant, bursary): scholarship name=label, yearly amount=money per year#, sponsor=donor, deadline=closing day@ >
scholarship award (grant given to a learner): award date=day@, amount=sum# > scholarship, student
dormitory (student residence, hall): dormitory name=label, rooms=number of rooms#, monthly rent=cost of living# >
dormitory stay (tenancy of a learner): move in date=beginning@, move out date=end@, room number=place > student, dormitory
library book (volume, printed work): title=name, author name=writer, isbn=book number, publication year=year of printing#, shelf=place >
book loan (lending, borrowed volume): loan date=day of lending@, due date=deadline@, returned date=day it came back@, fine=penalty# > library book, student
research grant (funding for research): grant title=name, funding body=sponsor, amount=sum#, start date=beginning@ > teacher
publication (paper, scientific article): title=name, journal=magazine, year=when it appeared#, citations=times quoted# > teacher

manufacturing upper MFG_
work order (production job, manufacturing order): start date=beginning@, finish date=end@, planned quantity=target amount#, scrap quantity=waste#, priority=urgency > finished part, production line
finished part (component, manufactured piece): part number=identifier, part name=label, revision=version, standard cost=unit cost# >
bill of material (parts list, recipe): component quantity=amount#, scrap factor=loss#, valid from=start@ > finished part
production line (assembly line): line name=label, speed=units per hour#, shift count=number of shifts# > plant
plant (factory, works): plant name=label, city=town, floor area=size#, opening date=start@ >
machine (device, tool): machine name=label, manufacturer=maker, purchase date=day of buying@, power rating=electric load# > production line
machine downtime (standstill, outage): start time=beginning@, end time=end@, cause=reason, lost units=missed output# > machine
maintenance job (repair, servicing): job date=day@, technician name=mechanic, labor hours=time spent#, spare part cost=material expense# > machine
quality inspection (check of the goods): inspection date=day@, inspector name=examiner, defects found=faults#, verdict=decision > work order
defect (fault, flaw): defect type=kind, severity=seriousness, description=details > quality inspection
raw material (input material, feedstock): material name=label, grade=class, price per kilogram=cost# > material supplier
material supplier (supplier of inputs): supplier name=label, country=nation, lead time days=waiting time# >
purchase requisition (request to buy): request date=day@, quantity=amount#, requester=who asked, status=state > raw material
operator (line worker): operator name=name, shift=working time, skill level=ability > production line
energy reading (power consumption): reading date=day@, kilowatt hours=electricity#, peak load=maximum# > plant
tooling (mould, fixture): tool name=label, cycle count=times used#, life limit=maximum uses# > machine

support plain crm_
ticket (support case, complaint, help request): subject=title, opened date=start@, closed date=end@, priority=urgency, channel=medium > account, agent, ticket category
account (business client, company served): account name=name, industry=branch, annual revenue=yearly turnover#, employee count=size# >
contact (contact person): full name=name, email address=mail, job role=function, phone number=telephone > account
agent (helpdesk worker, support staff): full name=name, skill level=ability, language=tongue > support team
support team (helpdesk group): team name=label, shift=working time, service level=promised time# >
ticket category (kind of complaint): category name=label, target hours=time to solve# >
ticket comment (answer in a case): posted time=when@, body=text, is public=visible > ticket, agent
satisfaction survey (rating by the caller, poll): survey date=day@, score=mark#, free text=remark > ticket
knowledge article (help page, how-to): title=name, view count=times read#, published date=publication@ > ticket category
service contract (support agreement): start date=beginning@, end date=expiry@, monthly fee=price per month#, contract type=kind > account
opportunity (deal, possible sale): deal name=title, expected revenue=hoped-for money#, close date=planned end@, stage=step, probability=chance# > account, contact
lead (prospect, possible client): full name=name, company=firm, source=origin, score=rating# >
meeting (get-together): meeting date=day@, topic=subject, duration=length#, place=location > contact, opportunity
escalation (raised case): escalated date=day@, reason=cause, level=stage# > ticket, support team
phone call (conversation on the telephone): call time=when@, duration seconds=length#, outcome=result, direction=incoming or outgoing > contact, agent

marketing plain mkt_
campaign (advertising drive, promotion): campaign name=title, start date=beginning@, end date=end@, budget=funds#, objective=goal > audience
audience (target group): audience name=label, size=number of people#, age range=ages >
advertisement (ad, commercial): headline=title, format=kind, cost per click=price of a click#, approved=allowed > campaign, media channel
media channel (medium, outlet for ads): channel name=label, reach=people reached#, contact email=mail >
ad impression (display of an ad): shown time=when@, device type=gadget, country=nation > advertisement
ad click (tap on an ad): click time=when@, landing page=target address, browser=program > advertisement
newsletter (mailing, bulletin): subject=title, sent date=day of sending@, recipients=number of readers#, open rate=share opened# > campaign
subscriber (newsletter reader, recipient): email address=mail, signup date=joining@, unsubscribed=left, language=tongue >
newsletter delivery (mail sent to a reader): delivered time=when@, opened=read, bounced=failed > newsletter, subscriber
event (fair, conference): event name=title, venue=place, event date=day@, ticket price=entrance fee#, visitor count=people who came# > campaign
sponsor (backer, patron): sponsor name=label, contribution=money given#, contact person=whom to call > event
influencer (social media personality): handle=nickname, followers=fans#, fee per post=price#, platform=network >
social post (message on a network): posted time=when@, likes=thumbs up#, shares=times passed on#, caption=text > influencer, campaign
market survey (opinion poll): survey name=title, sample size=people asked#, field date=day@ > audience
web visit (page view, session on the site): visit time=when@, page count=pages seen#, referrer=where from, bounce=left at once > media channel

insurance own
policy (insurance contract, coverage): policy number=identifier, start date=beginning@, end date=expiry@, yearly premium=price per year#, deductible=own share# > policy holder, insurance product, broker
policy holder (insured person): full name=name, birth date=birthday@, occupation=profession, smoker=smoking, city=town >
insurance product (kind of coverage, tariff offered): product name=label, risk class=danger, minimum term=shortest duration# >
broker (intermediary, middleman): broker name=label, commission rate=share#, license number=permit >
claim (damage case, loss report): loss date=day of the damage@, reported date=day of notice@, claim amount=sum asked#, cause=reason, status=state > policy, adjuster
adjuster (loss assessor): full name=name, region=area, experience years=length of career# >
claim payout (compensation paid): payout date=day@, amount=sum#, recipient=who got it > claim
insured vehicle (covered car): plate number=licence, model year=year built#, engine power=horsepower#, value=worth# > policy
insured building (covered house): street=road, postal code=zip, construction year=year built#, rebuild value=cost to rebuild# > policy
beneficiary (person who inherits the money): full name=name, relationship=kinship, share percent=portion# > policy
premium invoice (bill for the coverage): billing date=day@, amount=sum#, paid=settled > policy
risk assessment (underwriting check): assessed date=day@, risk score=danger mark#, underwriter=who judged, decision=outcome > policy
reinsurer (insurer of insurers): company name=firm, country=nation, capacity=cover offered# >
reinsurance treaty (contract with an insurer of insurers): treaty name=title, ceded share=portion passed on#, signed date=day of signing@ > reinsurer, insurance product

property camel
building (house, estate): building name=label, street=road, construction year=year built#, floors=storeys#, energy class=efficiency > property owner
apartment (flat, dwelling): unit number=door, rooms=number of rooms#, living area=size#, balcony=terrace > building
tenant (renter, lodger): full name=name, email address=mail, monthly income=earnings#, move in date=arrival@ >
lease (rental contract, tenancy agreement): start date=beginning@, end date=expiry@, monthly rent=price per month#, deposit=security# > apartment, tenant
rent payment (money paid by a renter): payment date=day@, amount=sum#, late days=delay# > lease
property owner (landlord): owner name=name, tax number=fiscal identifier, country=nation >
repair request (report of damage in a flat): reported date=day@, problem=trouble, urgency=priority, repair cost=expense# > apartment, contractor
contractor (craftsman, tradesman): company name=firm, trade=craft, hourly rate=price per hour# >
utility meter (gauge): meter number=identifier, meter type=kind, installed date=mounting@ > apartment
meter reading (consumption read off): reading date=day@, reading value=consumption# > utility meter
listing (advert for a flat): asking price=price wanted#, listed date=publication@, description=text, views=times seen# > apartment, real estate agent
real estate agent (estate broker): full name=name, agency=firm, commission percent=share# >
viewing (showing of a flat): viewing date=day@, visitor name=who came, feedback=opinion > listing
parking space (car place): space number=identifier, covered=roofed, monthly fee=price# > building
key handover (giving out of keys): handover date=day@, key count=number of keys# > lease

travel plain trv_
flight (air connection, plane ride): flight number=identifier, departure time=takeoff@, arrival time=landing@, distance=length#, base fare=price# > airline, aircraft
airline (air carrier): airline name=label, country=nation, fleet size=number of planes#, alliance=union >
aircraft (plane): tail number=registration, model=type, seat count=places#, built year=age# > airline
airport (aerodrome): airport name=label, city=town, iata code=three letters, runway count=strips#, elevation=height# >
passenger (traveller, flyer): full name=name, passport number=document, birth date=birthday@, nationality=citizenship > frequent flyer programme
frequent flyer programme (miles scheme): programme name=label, miles per dollar=earning rate# > airline
booking (reservation): booking date=day@, total price=cost#, travel class=comfort, confirmation code=identifier > passenger, flight, travel agency
travel agency (tour office): agency name=label, city=town, commission rate=share# >
baggage (luggage, suitcase): tag number=label, weight=mass#, lost=missing > booking
hotel (inn, lodging): hotel name=label, city=town, stars=category#, room count=number of rooms# >
hotel room (chamber): room number=door, bed type=kind of bed, nightly rate=price per night# > hotel
hotel stay (overnight stay): check in date=arrival@, check out date=departure@, guests=people#, total price=cost# > hotel room, passenger
excursion (guided tour): tour name=title, duration hours=length#, price=cost#, meeting point=where it starts > travel agency
crew member (flight attendant, pilot): full name=name, rank=position, flight hours=time in the air# > airline
rental car (hired vehicle): plate number=licence, car class=size, daily rate=price per day# > travel agency
"""

SHORT: Final = {
    **dict.fromkeys(("number",), "no"),
    **{
        "account": "acct", "address": "addr", "amount": "amt", "appointment": "appt", "arrival": "arrv",
        "balance": "bal", "budget": "bdgt", "center": "ctr", "code": "cd", "count": "cnt", "currency": "ccy",
        "customer": "cust", "customs": "cstm", "date": "dt", "declaration": "decl", "delivery": "dlvr",
        "depreciation": "depr", "description": "desc", "destination": "dest", "distance": "dist", "driver": "drvr",
        "employee": "emp", "entity": "ent", "exchange": "exch", "expense": "exp", "freight": "frt", "general": "gen",
        "invoice": "inv", "item": "itm", "journal": "jrnl", "ledger": "ldgr", "legal": "lgl", "license": "lic",
        "location": "loc", "machine": "mach", "maintenance": "maint", "manufacturer": "mfr", "material": "matl",
        "maximum": "max", "minimum": "min", "movement": "mvmt", "name": "nm", "operator": "oper", "order": "ord",
        "origin": "orig", "package": "pkg", "pallet": "plt", "part": "prt", "payment": "pmt", "period": "prd",
        "phone": "ph", "planned": "pln", "position": "pos", "price": "prc", "production": "prod", "purchase": "purch",
        "quality": "qual", "quantity": "qty", "rate": "rt", "receipt": "rcpt", "reference": "ref", "report": "rpt",
        "requisition": "req", "revision": "rev", "route": "rte", "schedule": "sched", "sequence": "seq",
        "shipment": "shpmt", "shipping": "shpg", "start": "strt", "status": "stat", "stock": "stk",
        "supplier": "supp", "temperature": "temp", "total": "tot", "tracking": "trk", "transport": "trnsp",
        "type": "typ", "value": "val", "vehicle": "veh", "warehouse": "whse", "weight": "wgt", "work": "wrk",
    },
}  # fmt: skip
"""How `short` and `upper` domains abbreviate; words that are not here are cut to their first six letters."""

VARIANTS: Final = {
    "{}_archive": ("archived {}", "old {} from the archive"),
    "{}_2019": ("{} of the 2019 table",),
    "{}_2021": ("{} of the 2021 table",),
    "stg_{}": ("staged {}", "{} in staging"),
    "{}_audit": ("audit trail of {}", "{} audit"),
    "{}_bak": ("backup of {}",),
    "{}_hist": ("historical {}", "{} history"),
    "tmp_{}_load": ("{} of the temporary load",),
}
"""Near-duplicates of a table, and how people ask for them."""

AUDIT: Final = """
created_at created_by updated_at updated_by is_deleted row_version tenant_id source_system etl_batch_id external_ref
sort_order remarks_internal sync_status last_sync_at checksum import_file legacy_id record_status effective_from
effective_to approved_flag lock_owner
""".split()
JUNK: Final = ("attr_{:02d}", "udf_text_{}", "udf_num_{}", "flag_{}", "reserved_{}", "ext_field_{:02d}", "filler_{}")

ONE: Final = (
    "List the {c} of every {t}.",
    "What is the average {c} of all {ts}?",
    "How many {ts} have a {c} above the usual?",
    "Which {ts} have the highest {c}?",
    "Show {c} and {d} of the {ts}.",
    "Give me the {ts} sorted by {c}.",
)
MORE: Final = (
    "For each {t}, show the {c} of its {u} with its {e}.",
    "Which {ts} belong to a {u} whose {e} is not known?",
    "What is the {c} of the {ts} with the most {us}?",
    "Count the {ts} per {e} of the {u}.",
    "Show the {c} of {ts} together with the {e} of their {us}.",
    "How many {us} does the {t} with the greatest {c} have?",
)
