"""How users ask for the tools of levels 1 and 2, as text, and what the assistant answers.

A form is a tool with the slots of what is said, then its sentences::

    AddAlarm time:time
      + set an alarm for {time}        a request; OPENINGS make a sentence of it
      ~ set an alarm                   a vague one
      ? For when?                      the assistant's question after it
      ! For {time}.                    the user's answer
      = The alarm is set.              the reply; {slots} are fields of the result, else what was said

A slot is ``argument:kind`` (several arguments of one kind: ``a,b:kind``), a constant ``argument!text`` (``_``
for a space), or, after ``First > ``, ``argument<field``: read from the answer of the call before, or from its
arguments. ``First >`` begins a form that goes on from a call of ``First``. A line ``# family`` begins the
tools that could be taken for one another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CHAINS", "FAMILIES", "FORMS", "Form", "Slot"]


@dataclass(frozen=True)
class Slot:
    """What is said in one go."""

    names: tuple[str, ...]
    """The arguments that it is for."""
    kind: str
    """The kind of value: see ``values.KINDS``."""

    def is_in(self, text: str) -> bool:
        """Whether a sentence says it."""
        return any(f"{{{name}}}" in text for name in (*self.names, self.kind))


@dataclass
class Form:
    """One way to ask for one tool."""

    id: str
    tool: str
    slots: tuple[Slot, ...]
    constants: Mapping[str, str]
    links: Mapping[str, str]
    """Argument to the field of the call before."""
    clauses: list[str] = field(default_factory=list)
    vague: list[str] = field(default_factory=list)
    asks: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)


_TEXT = """
# account
GetUserToken username,password:login
  + tell me the access token of my account {username}; the password is {password}
  + log in as {username} with the password {password} and tell me my token
  + get me the token of {username}, whose password is {password}
  + look up which token I have: user {username}, password {password}
  ~ tell me my access token
  ~ log me in and tell me my token
  ? What are your username and password?
  ? I need your username and your password for that.
  ! {username}, and the password is {password}.
  ! The username is {username}, the password {password}.
  = Your token is {token}.
  = You are logged in, and the token is {token}.
CheckToken token:someones_token
  + check whose token {token} is
  + find out which user the token {token} belongs to
  + tell me the account behind the token {token}
  ~ find out whose access token I have here
  ~ check a token for me
  ? Which token is it?
  ? What does the token look like?
  ! It is {token}.
  ! It reads {token}.
  = That is the token of {username}.
  = It belongs to {username}.
RegisterUser username:new_name password:password email:address
  + sign me up as {username} with the password {password} and the address {email}
  + create an account called {username} with the password {password} for {email}
  + register the new user {username}, password {password}, email {email}
  + open a user account for {email}: name {username}, password {password}
  ~ create a user account for me
  ~ sign me up
  ? Which username, password and email address should it have?
  ? Under which name, and with which password and email?
  ! Name {username}, password {password}, email {email}.
  ! {username} with the password {password}; my address is {email}.
  = The account exists now, and its token is {token}.
  = You are signed up. Your token is {token}.
DeleteAccount
  + delete my account for good
  + close my user account
  + remove my account altogether
  + wipe out the account I have here
  = Your account is gone.
  = The account has been deleted.
ModifyPassword old_password:own_password new_password:password
  + change my password from {old_password} to {new_password}
  + replace my password {old_password} by {new_password}
  + make {new_password} my password instead of {old_password}
  ~ change my password
  ~ give me another password
  ? What is the password now, and what should it be?
  ? From which password to which one?
  ! It is {old_password}, and I want {new_password}.
  ! From {old_password} to {new_password}.
  = Your password has been changed.
  = The new password holds from now on.
ForgotPassword status!Forgot_Password username,email:lost_login
  + send me the code to reset my forgotten password; I am {username} with the address {email}
  + start a password reset for {username}, who is reached at {email}
  + help me, I forgot the password of {username}; the account is kept under {email}
  ~ help me with a password that I forgot
  ~ send me a code for resetting my password
  ? Which account is it, and which email address is kept for it?
  ? What are the username and the email address?
  ! The account is {username}, the address {email}.
  ! {username}, with {email}.
  = A code is on its way to you. Which password would you like?
  = The code for the reset has been sent. What should the new password be?
ForgotPassword > ForgotPassword status!Verification_Code verification_code<result new_password:password
  + use that code to set {new_password} as my password
  + set the new password {new_password} with the code
  + finish the reset with the password {new_password}
  = Your new password is set.
  = The password has been reset.
ForgotPassword/reset > GetUserToken username<username password<new_password
  + log in with it and tell me the token
  + try the new password and tell me the token you get
  = It works: the token is {token}.
  = Logged in. Your token is {token}.
RegisterUser > GetUserToken username<username password<password
  + log in as this user once, to see that it works
  + try out the login of the new account
  = The login works; the token is {token}.
  = That went well. The login gave the token {token}.

# diary
AddAgenda content:errand time:time location:place
  + put "{content}" on my agenda for {time} at the {location}
  + add an agenda entry: "{content}", {time}, {location}
  + enter "{content}" in my agenda, on {time} at the {location}
  ~ add something to my agenda
  ~ make an entry in my agenda
  ? What is it about, and when and where does it happen?
  ? Which words, which time and which place?
  ! "{content}" on {time} at the {location}.
  ! It says "{content}", it is on {time}, and the place is the {location}.
  = It is on your agenda now.
  = I have added it to your agenda.
QueryAgenda content:errand
  + look up when and where "{content}" is on my agenda
  + find the agenda entry "{content}" and tell me its time
  + tell me for when I have "{content}" on my agenda
  ~ look up an entry of my agenda
  ~ tell me when something on my agenda takes place
  ? What does the entry say?
  ? Which entry do you mean?
  ! It says "{content}".
  ! The one about "{content}".
  = That is at {time}, and the place is the {location}.
  = You have planned it for {time} at the {location}.
QueryAgenda time:time
  + tell me what is on my agenda for {time}
  + look up my agenda entry of {time}
  + check what my agenda says for {time}
  ~ tell me what I have on my agenda at a certain time
  ? At what time?
  ? Which day and hour do you mean?
  ! On {time}.
  ! The entry of {time}.
  = Your agenda says "{content}" at the {location}.
  = You have "{content}" there, at the {location}.
ModifyAgenda content:errand time:time location:place
  + change the agenda entry "{content}": it is now on {time} at the {location}
  + move "{content}" on my agenda to {time}, at the {location}
  + rewrite my agenda entry "{content}" so that it is on {time} at the {location}
  ~ change an entry of my agenda
  ? Which entry, and what are its new time and place?
  ! "{content}" is now on {time}, at the {location}.
  ! The entry "{content}": {time}, {location}.
  = The entry has been changed.
  = I have moved it on your agenda.
DeleteAgenda content:errand
  + delete "{content}" from my agenda
  + strike the entry "{content}" off my agenda
  + remove the agenda entry that says "{content}"
  ~ delete an entry of my agenda
  ~ take something off my agenda
  ? What does the entry say?
  ? Which entry?
  ! "{content}".
  ! The one that says "{content}".
  = The entry is off your agenda.
  = I have deleted that entry.
QueryAgenda > ModifyAgenda content<content time:time location<location
  + move it to {time}, at the same place
  + change that entry to {time} and leave the place as it is
  = The entry has been moved.
  = It has its new time now.
QueryAgenda > DeleteAgenda content<content time<time location<location
  + delete that entry
  + take it off my agenda
  = It is off your agenda.
  = That entry is deleted.
AddAlarm time:time
  + set an alarm for {time}
  + add an alarm that rings on {time}
  + let my alarm clock ring on {time}
  ~ set an alarm
  ~ set my alarm clock
  ? For when?
  ? When should it ring?
  ! For {time}.
  ! It should ring on {time}.
  = The alarm is set.
  = It will ring then.
QueryAlarm time:time
  + check whether I have an alarm on {time}
  + see if my alarm clock is set for {time}
  + look whether there is an alarm of mine on {time}
  ~ check one of my alarms
  ~ see whether my alarm clock is set
  ? For which time?
  ? At what time should it ring?
  ! The one on {time}.
  ! On {time}.
  = Yes, that alarm is set.
  = Yes, your alarm clock is set for it.
ModifyAlarm from_time:time to_time:time
  + move my alarm of {from_time} to {to_time}
  + let the alarm that is set for {from_time} ring on {to_time} instead
  + change my alarm clock from {from_time} to {to_time}
  ~ move one of my alarms
  ? From what time to what time?
  ? Which alarm, and when should it ring instead?
  ! From {from_time} to {to_time}.
  ! The one on {from_time}; let it ring on {to_time}.
  = The alarm has been moved.
  = It rings at the new time now.
DeleteAlarm time:time
  + delete my alarm of {time}
  + remove the alarm that is set for {time}
  + drop the alarm clock I have on {time}
  ~ delete one of my alarms
  ? Which one?
  ? When would it ring?
  ! That of {time}.
  ! The one on {time}.
  = The alarm is deleted.
  = That alarm will not ring.
QueryAlarm > ModifyAlarm from_time<time to_time:time
  + move that alarm to {to_time}
  + let it ring on {to_time} instead
  = The alarm has been moved.
  = Done, it has its new time.
QueryAlarm > DeleteAlarm time<time
  + delete that alarm
  + switch that alarm off for good by deleting it
  = The alarm is deleted.
  = It is gone.
AddAlarm > QueryAlarm time<time
  + check that this alarm is really set
  + look whether it is there
  = Yes, it is there.
  = Yes, it is set.
AddMeeting meeting_topic:topic start_time,end_time:span location:room attendees:people
  + book a meeting on the {meeting_topic} {span} in the {location} with {attendees}
  + schedule the meeting "{meeting_topic}" {span}, in the {location}, for {attendees}
  + plan a meeting in the {location} {span}; its subject is {meeting_topic} and {attendees} take part
  ~ book a meeting
  ~ schedule a meeting for me
  ? What is the subject, when and where is it, and who takes part?
  ? Please tell me subject, hours, room and people.
  ! {meeting_topic}, {span}, in the {location}, with {attendees}.
  ! The subject is {meeting_topic}; it is {span} in the {location}, and {attendees} come.
  = The meeting is booked.
  = I have booked that meeting.
QueryMeeting meeting_topic:topic
  + look up where and when my meeting "{meeting_topic}" takes place
  + find my meeting about the {meeting_topic} and tell me its place and beginning
  + tell me the details of my meeting on the {meeting_topic}
  ~ look up one of my meetings
  ~ tell me when a meeting of mine begins
  ? What is its subject?
  ? Which meeting?
  ! The {meeting_topic}.
  ! Its subject is {meeting_topic}.
  = It begins at {start_time} and is held in the {location}.
  = The meeting in the {location} begins at {start_time}.
QueryMeeting start_time:time
  + tell me what my meeting on {start_time} is about
  + look up the meeting I have on {start_time}
  + find out the subject and room of my meeting on {start_time}
  ~ find out what a meeting of mine is about
  ? When does it begin?
  ! It begins on {start_time}.
  ! On {start_time}.
  = It is about the {meeting_topic}, in the {location}.
  = The subject is {meeting_topic}, and you meet in the {location}.
ModifyMeeting meeting_topic:topic start_time,end_time:span
  + move my meeting "{meeting_topic}" so that it is {span}
  + reschedule the meeting on the {meeting_topic}; it is now {span}
  + change the hours of my meeting {meeting_topic}: it runs {span}
  ~ reschedule one of my meetings
  ? Which meeting, and what are its new hours?
  ! The {meeting_topic}, now {span}.
  ! {meeting_topic}; it runs {span}.
  = The meeting has its new hours.
  = I have rescheduled the meeting.
DeleteMeeting meeting_topic:topic
  + cancel my meeting "{meeting_topic}"
  + call off the meeting on the {meeting_topic}
  + delete my meeting about the {meeting_topic}
  ~ cancel a meeting of mine
  ? What is it about?
  ? Which one should I cancel?
  ! The {meeting_topic}.
  ! The one about the {meeting_topic}.
  = The meeting is cancelled.
  = I have called it off.
QueryMeeting > ModifyMeeting meeting_topic<meeting_topic start_time,end_time:span location<location attendees<attendees
  + move it, so that it is {span}
  + reschedule that meeting: {span}, with the same people in the same place
  = The meeting has been moved.
  = It has its new hours now.
QueryMeeting > DeleteMeeting meeting_topic<meeting_topic start_time<start_time end_time<end_time
    location<location attendees<attendees
  + cancel that meeting
  + call it off
  = The meeting is cancelled.
  = It is called off.
AddReminder content:errand time:time
  + remind me to "{content}" on {time}
  + add a reminder "{content}" for {time}
  + note a reminder for {time} that says "{content}"
  ~ add a reminder
  ~ remind me of something
  ? Of what, and when?
  ? What should it say, and for when is it?
  ! "{content}", on {time}.
  ! It should say "{content}" and come on {time}.
  = I will remind you.
  = The reminder is saved.
QueryReminder content:errand time:time
  + check for when my reminder "{content}" is set; I believe it is {time}
  + look up my reminder "{content}", which should be due on {time}, and tell me its exact time
  + tell me when the reminder "{content}" comes; is it {time}?
  ~ check one of my reminders
  ~ tell me for when a reminder of mine is set
  ? What does it say, and when do you think it is due?
  ? Which one, and for about when?
  ! "{content}", and I think it is due on {time}.
  ! It says "{content}"; it should be {time}.
  = It is set for {time}.
  = That reminder is due at {time}.
ModifyReminder content:errand time:time
  + put my reminder "{content}" off to {time}
  + let the reminder "{content}" come on {time} instead
  + change the time of my reminder "{content}" to {time}
  ~ put one of my reminders off
  ? Which one, and until when?
  ! "{content}", until {time}.
  ! The one that says "{content}"; let it come on {time}.
  = The reminder has its new time.
  = I have put it off.
DeleteReminder content:errand time:time
  + delete the reminder "{content}" that is due on {time}
  + drop my reminder of {time}, the one that says "{content}"
  + remove the reminder "{content}" of {time}
  ~ delete one of my reminders
  ? What does it say, and when is it due?
  ! "{content}", due on {time}.
  ! It is the one of {time} and says "{content}".
  = The reminder is deleted.
  = That reminder is gone.
QueryReminder > ModifyReminder content<content time:time
  + put it off to {time}
  + let that reminder come on {time}
  = It has been put off.
  = The reminder has its new time.
QueryReminder > DeleteReminder content<content time<time
  + delete that reminder
  + drop it, I have done that already
  = The reminder is deleted.
  = It is gone.

# clinic
AppointmentRegistration patient_name:person date:day doctor_name:doctor
  + register {patient_name} with {doctor_name} at the hospital for {date}
  + make an appointment with {doctor_name} on {date} for the patient {patient_name}
  + get {patient_name} an appointment with {doctor_name} on {date}
  ~ make an appointment at the hospital
  ~ register a patient with a doctor
  ? Who is the patient, which doctor, and on which day?
  ? For whom, with which doctor and when?
  ! {patient_name}, with {doctor_name}, on {date}.
  ! The patient is {patient_name}, the doctor {doctor_name}, the day {date}.
  = The appointment is made; its number is {result}.
  = Registered. The appointment has the number {result}.
QueryRegistration patient_name:person date:day
  + find out which doctor {patient_name} sees on {date}
  + look up the hospital appointment of {patient_name} on {date}
  + tell me with whom {patient_name} has an appointment at the hospital on {date}
  ~ look up an appointment at the hospital
  ? Whose appointment, and on which day?
  ? Who is the patient, and what is the day?
  ! That of {patient_name} on {date}.
  ! {patient_name}, on {date}.
  = {doctor_name} is the doctor.
  = The appointment is with {doctor_name}.
CancelRegistration appointment_id:appointment
  + cancel the hospital appointment {appointment_id}
  + call off my appointment with the number {appointment_id}
  + take back the hospital registration number {appointment_id}
  ~ cancel my appointment at the hospital
  ? What is the number of the appointment?
  ! It is {appointment_id}.
  ! Number {appointment_id}.
  = The appointment is cancelled.
  = I have called off the appointment.
ModifyRegistration appointment_id:appointment new_appointment_date:day
  + move the hospital appointment {appointment_id} to {new_appointment_date}
  + put off appointment number {appointment_id} to {new_appointment_date}
  ~ move my appointment at the hospital to another day
  ? Which number does it have, and to which day?
  ! Number {appointment_id}, to {new_appointment_date}.
  = The appointment has been moved.
  = It is on the new day now.
ModifyRegistration appointment_id:appointment new_appointment_doctor:doctor
  + change the doctor of appointment {appointment_id} to {new_appointment_doctor}
  + give the hospital appointment {appointment_id} to {new_appointment_doctor} instead
  ~ change the doctor of my appointment
  ? Which number does it have, and who is the other doctor?
  ! Number {appointment_id}; I want to see {new_appointment_doctor}.
  = The doctor has been changed.
  = The appointment is with the other doctor now.
QueryRegistration > CancelRegistration appointment_id<appointment_id
  + cancel that appointment
  + call this appointment off
  = The appointment is cancelled.
  = It is called off.
QueryRegistration > ModifyRegistration appointment_id<appointment_id new_appointment_date:day
  + move it to {new_appointment_date}
  + put that appointment off to {new_appointment_date}
  = The appointment has been moved.
  = It is on the new day now.
AppointmentRegistration > ModifyRegistration appointment_id<result new_appointment_doctor:doctor
  + change the doctor of this appointment to {new_appointment_doctor}
  + let {new_appointment_doctor} take that appointment instead
  = The doctor has been changed.
  = Done, you have the other doctor.
AppointmentRegistration > CancelRegistration appointment_id<result
  + cancel it again, we cannot come
  + take that appointment back after all
  = The appointment is cancelled.
  = It is cancelled again.
AppointmentRegistration > QueryRegistration patient_name<patient_name date<date
  + look it up, to be sure that it is there
  + check that the appointment is on the list of that day
  = Yes, it is on the list.
  = Yes, the appointment is there.
RecordHealthData user_id:health_id time:past health_data:measurements
  + record for {user_id}, measured on {time}: {health_data}
  + write down the health data of {user_id} from {time}: {health_data}
  + save these measurements of {user_id}, taken on {time}: {health_data}
  ~ record some health data
  ? Whose data, when was it measured, and what are the values?
  ! User {user_id}, on {time}: {health_data}.
  ! {health_data}; that is {user_id} on {time}.
  = The values are recorded.
  = I have written the values down.
QueryHealthData user_id:health_id start_time,end_time:past_days
  + show what was measured of {user_id} from {start_time} to {end_time}
  + look up the health data of {user_id} between {start_time} and {end_time}
  + tell me the measurements of {user_id}, beginning on {start_time} and ending on {end_time}
  ~ look up some health data
  ? Whose data, from when until when?
  ! {user_id}, from {start_time} to {end_time}.
  ! Those of {user_id} between {start_time} and {end_time}.
  = These were measured: {measured}.
  = I found {measured}.
SymptomSearch symptom:symptom
  + list the illnesses that may lie behind the symptom "{symptom}"
  + look up what "{symptom}" can be a sign of
  + tell me which illnesses go with the symptom {symptom}
  ~ find out which illness a symptom may come from
  ? Which symptom is it?
  ? What does the person suffer from?
  ! {symptom}.
  ! It is {symptom}.
  = It may be: {names}.
  = Possible illnesses are: {names}.
EmergencyKnowledge symptom:symptom
  + tell me how to give first aid for {symptom}
  + look up the first aid for this symptom: {symptom}
  + say what to do at once as first aid in case of {symptom}
  ~ tell me some first aid
  ? For which symptom?
  ? What happened to the person?
  ! For {symptom}.
  ! The symptom is {symptom}.
  = If it is {name}: {aid}
  = In the case of {name}: {aid}
SymptomSearch > EmergencyKnowledge symptom<symptom
  + tell me the first aid for it
  + look up first aid for this symptom as well
  = If it is {name}: {aid}
  = In the case of {name}: {aid}

# hotel
BookHotel hotel_name:hotel check_in_time,check_out_time:stay room_count,adult_count,child_count:party
  + book {party} at the hotel {hotel_name} from {check_in_time} to {check_out_time}
  + order {party} in the {hotel_name}, arriving on {check_in_time} and leaving on {check_out_time}
  + reserve {party} from {check_in_time} until {check_out_time} at the {hotel_name}
  ~ book a hotel
  ~ book rooms for our trip
  ? Which hotel, from when to when, how many rooms and for whom?
  ? Please tell me the hotel, the days, the rooms and the guests.
  ! The {hotel_name}, {check_in_time} to {check_out_time}: {party}.
  ! {party} at the {hotel_name}, from {check_in_time} to {check_out_time}.
  = The rooms are booked.
  = Your hotel is booked.

# bank
OpenBankAccount account:bank_account password:password name:person
  + open the bank account {account} with the password {password} for {name}
  + set up a bank account named {account} for {name}; its password is {password}
  + open an account {account} at the bank, held by {name}, password {password}
  ~ open a bank account
  ~ open an account at the bank
  ? What should it be called, what is the password, and who holds it?
  ! Call it {account}, with the password {password}; {name} holds it.
  ! {account}, {password}, for {name}.
  = The bank account is open.
  = The account at the bank has been opened.
QueryBalance
  + tell me how much money I have at the bank
  + check the balance of my bank account
  + look up what is left on my bank account
  + see how much is in my account at the bank
  = You have {result} in your account.
  = The balance is {result}.

# market
QueryStock stock_code:stock date:trading_day
  + tell me what one {stock_code} share cost on {date}
  + look up the price of the stock {stock_code} on {date}
  + find the share price of {stock_code} for {date}
  ~ look up the price of a share
  ~ tell me what a stock cost
  ? Which stock, and on which day?
  ? What are the code and the day?
  ! {stock_code}, on {date}.
  ! The price of {stock_code} on {date}.
  = One share cost {result}.
  = The price was {result}.
Calculator formula:formula
  + calculate {formula}
  + work out {formula}
  + tell me the value of {formula}
  ~ do a calculation
  ~ work something out
  ? Which formula?
  ? What should I calculate?
  ! {formula}.
  ! I need {formula}.
  = That makes {result}.
  = The value is {result}.

# home
TimedSwitch name:device time:time on:on
  + plan a timed switch for {time}: the {name} goes {on}
  + set the timer of the {name} so that it goes {on} at this moment: {time}
  + have the timer turn the {name} {on}; the time is {time}
  ~ set the timer of a device
  ~ plan a timed switch
  ? Which device, when, and should it go on or off?
  ! The {name} should go {on}, and the time is {time}.
  ! Turn it {on}. It is the {name}, and I mean {time}.
  = The switch is planned.
  = The timer is set.
CancelTimedSwitch name:device time:time
  + cancel the timed switch of the {name} on {time}
  + take back the switching of the {name} that is planned for {time}
  + drop the timer that would switch the {name} on {time}
  ~ cancel a timed switch
  ? Of which device, and at what time?
  ! The {name}, on {time}.
  ! The one of the {name} on {time}.
  = The switch is cancelled.
  = That timer is off.
TimedSwitch > CancelTimedSwitch name<name time<time
  + cancel that switch again
  + take it back after all
  = The switch is cancelled.
  = It is cancelled again.
AddScene name:scene devices:devices
  + add a smart-home scene "{name}" with {devices}
  + make a new scene called "{name}" at home out of {devices}
  + set up the scene "{name}"; it has {devices}
  ~ add a scene to my smart home
  ? What is its name, and which devices, with a description each?
  ! "{name}", with {devices}.
  ! Call it "{name}"; it has {devices}.
  = The scene is there.
  = I have added the scene.
ModifyScene name:scene devices:devices
  + change the smart-home scene "{name}" so that it has {devices}
  + give the scene "{name}" other devices: {devices}
  + let my scene "{name}" consist of {devices} from now on
  ~ change a scene of my smart home
  ? Which one, and which devices should it have, with a description each?
  ! "{name}"; it should have {devices}.
  ! Give "{name}" these: {devices}.
  = The scene has been changed.
  = It has its new devices.
QueryScene name:scene
  + list the devices of the smart-home scene "{name}"
  + tell me which devices belong to my scene "{name}"
  + look up what is in the scene "{name}"
  ~ list the devices of a scene
  ? Which scene?
  ? What is it called?
  ! "{name}".
  ! It is called "{name}".
  = It has these devices: {names}.
  = These belong to it: {names}.
DeleteScene name:scene
  + delete the smart-home scene "{name}"
  + remove my scene "{name}"
  + throw the scene "{name}" out of my smart home
  ~ delete one of my scenes
  ? Which scene?
  ! "{name}".
  ! The scene "{name}".
  = The scene is deleted.
  = I have removed that scene.
QueryScene > DeleteScene name<name
  + delete this scene
  + remove it, I never use it
  = The scene is deleted.
  = It is removed.
QueryScene > ModifyScene name<name devices:devices
  + change it to have {devices}
  + replace them by {devices}
  = The scene has been changed.
  = It has its new devices.
AddScene > QueryScene name<name
  + read me the devices that are in it now
  + list its devices once more
  = It has these devices: {names}.
  = These are in it: {names}.

# mail
SendEmail receiver:address subject:topic content:news
  + send an email to {receiver} with the subject "{subject}" and the text "{content}"
  + mail {receiver}; the subject is "{subject}", and it says "{content}"
  + write to {receiver} by email: subject "{subject}", text "{content}"
  ~ send an email
  ~ write an email for me
  ? To which address, with which subject and text?
  ? Who gets it, and what are subject and text?
  ! To {receiver}, subject "{subject}", text "{content}".
  ! Write "{content}" to {receiver} under the subject "{subject}".
  = The email is sent.
  = Your mail is on its way.

# media
PlayMusic music_name:song
  + play the song {music_name}
  + put on {music_name}, the song
  + start the music "{music_name}"
  ~ play some music
  ~ put a song on
  ? Which song?
  ? What would you like to hear?
  ! {music_name}.
  ! I would like to hear {music_name}.
  = It is playing.
  = There it is, enjoy.
SpeechRecognition url:recording
  + write out what is said in the recording {url}
  + turn the speech in {url} into text
  + tell me word for word what one hears in {url}
  ~ write out a sound recording
  ~ tell me what is said in a recording
  ? Where is the recording?
  ? What is its address?
  ! It is at {url}.
  ! {url}
  = It says: {result}
  = These are the words: {result}
ImageCaption url:picture
  + describe the picture {url} in one line
  + give me a caption for the image {url}
  + tell me what the picture at {url} shows
  ~ describe a picture
  ~ find a caption for an image
  ? Where is the picture?
  ? What is its address?
  ! It is at {url}.
  ! {url}
  = It shows this: {result}.
  = A caption for it: {result}.
SpeechRecognition > SendEmail receiver:address subject:topic content<result
  + mail exactly these words to {receiver} with the subject "{subject}"
  + send the text as it is to {receiver}, subject "{subject}"
  = The email is sent.
  = The words are on their way.
ImageCaption > SendEmail receiver:address subject:topic content<result
  + send that caption to {receiver} as an email with the subject "{subject}"
  + mail the caption as it is to {receiver}, subject "{subject}"
  = The email is sent.
  = The caption is on its way.

# knowledge
DocumentQA url,question:document
  + read the text file {url} and answer this: {question}
  + look into {url} and find out: {question}
  + answer a question about the document {url}: {question}
  ~ answer a question about a text file
  ~ look something up in a document
  ? Which file, and what is the question?
  ? Where is it, and what do you want to know?
  ! The file is {url}. {question}
  ! In {url}: {question}
  = The answer is: {result}
  = The document says: {result}
DocumentQA > SendEmail receiver:address subject:topic content<result
  + mail that answer to {receiver} word for word, with the subject "{subject}"
  + send exactly this answer to {receiver}, subject "{subject}"
  = The email is sent.
  = The answer is on its way.
Wiki keyword:article
  + look up {keyword} in the encyclopedia and read me the opening words
  + tell me what the encyclopedia says first about "{keyword}"
  + give me the first words of the encyclopedia article on {keyword}
  ~ look something up in the encyclopedia
  ~ read me the beginning of an encyclopedia article
  ? Which subject?
  ? What should I look up?
  ! {keyword}.
  ! It is about {keyword}.
  = The article begins: {summary}
  = It says: {summary}
Wiki keyword:article
  + find the address of the encyclopedia article on {keyword}
  + tell me where the article "{keyword}" of the encyclopedia is on the web
  + get me the link to the encyclopedia entry for {keyword}
  ~ get me the link to an encyclopedia article
  ? To which article?
  ! The one on {keyword}.
  = It is at {url}
  = Here is the address: {url}
Dictionary keyword:word
  + look up the word "{keyword}" in the dictionary
  + tell me what the English word "{keyword}" means
  + get me the dictionary's definition of {keyword}
  ~ look up an English word
  ~ tell me what a word means
  ? Which word?
  ? What is the word?
  ! {keyword}.
  ! The word is "{keyword}".
  = It means: {definition}
  = The dictionary says: {definition}
SearchEngine keyword:topic_on_web
  + search the web for "{keyword}" and give me the title of the best page
  + find out which web page comes first when one searches for "{keyword}"
  + look for pages about "{keyword}" on the web
  ~ search the web for me
  ~ find a page on the web
  ? What should I search for?
  ? Which words should I search for?
  ! "{keyword}".
  ! Search for "{keyword}".
  = The best page is called "{title}".
  = "{title}" comes first.
SearchEngine keyword:topic_on_web
  + search the web for "{keyword}" and give me the address of the best page
  + find me a link with a web search for "{keyword}"
  ~ find me a link on the web
  ? What should I search for?
  ! "{keyword}".
  = This is the address: {url}
  = The best page is {url}
Translate src,tgt_lang:phrase
  + translate "{src}" into {tgt_lang}
  + put "{src}" into {tgt_lang} for me
  + give me the {tgt_lang} words for "{src}"
  ~ translate something
  ~ translate a phrase for me
  ? Which text, and into which language?
  ? What is the text, and what is the language?
  ! "{src}", into {tgt_lang}.
  ! Into {tgt_lang}, please: "{src}"
  = In {tgt_lang} that is: {result}
  = It is: {result}
QueryHistoryToday date:day_of_year
  + tell me what happened in history on {date}
  + list the historical events of {date}
  + look up which events in history fell on {date}
  ~ look up what happened in history on a day of the year
  ? On which day?
  ? Which day of the year?
  ! {date}.
  ! On {date}.
  = On that day: {titles}.
  = These fell on it: {titles}.
GetToday
  + tell me the date of today
  + look up which day it is today
  + say what the current date is
  = Today is {result}.
  = It is {result}.
"""


def _parse(text: str) -> tuple[dict[str, list[Form]], dict[str, list[Form]], dict[str, str]]:
    forms: dict[str, list[Form]] = {}
    chains: dict[str, list[Form]] = {}
    families: dict[str, str] = {}
    family = ""
    form = Form("", "", (), {}, {})
    lists = {"+": "clauses", "~": "vague", "?": "asks", "!": "answers", "=": "replies"}
    for line in re.sub(r"\n    +", " ", text).strip().splitlines():
        if line.startswith("  "):
            getattr(form, lists[line[2]]).append(line[4:])
        elif line.startswith("#"):
            family = line[2:]
        elif line:
            first, _, rest = line.rpartition(" > ")
            name, *words = rest.split()
            group = chains.setdefault(first, []) if first else forms.setdefault(name, [])
            form = _form(f"{first}>{name}/{len(group)}" if first else f"{name}/{len(group)}", name, words)
            group.append(form)
            families.setdefault(name, family)
    return forms, chains, families


def _form(id: str, name: str, words: list[str]) -> Form:
    slots, constants, links = [], {}, {}
    for word in words:
        if "!" in word:
            argument, _, text = word.partition("!")
            constants[argument] = text.replace("_", " ")
        elif "<" in word:
            argument, _, source = word.partition("<")
            links[argument] = source
        else:
            names, _, kind = word.partition(":")
            slots.append(Slot(tuple(names.split(",")), kind))
    return Form(id, name, tuple(slots), constants, links)


FORMS, CHAINS, FAMILIES = _parse(_TEXT)
"""Tool to its forms; first tool of a chain to the forms that go on from it; tool to its family."""
