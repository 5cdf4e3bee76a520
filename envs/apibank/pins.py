# ruff: noqa: E501
"""Where API-Bank's files are and what is known of their bytes; made once from a copy of the files.

The lists have the form of ``sha256sum``: a hash, two spaces, a name below the benchmark's folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["PINS", "Pins"]


@dataclass(frozen=True, slots=True)
class Pins:
    """Which files to fetch, from which revision, and the SHA-256 of each that is known."""

    hub_dataset: str
    """Name of the dataset on the Hugging Face hub."""
    hub_revision: str
    """Commit of the dataset."""
    hub_files: Mapping[str, str | None]
    """Files of the dataset, and the SHA-256 of each or None."""
    repository: str
    """The repository on GitHub that holds the rest."""
    commit: str
    """Commit of the repository."""
    archive_files: Mapping[str, str]
    """Files of the repository, below its folder ``api-bank``, and the SHA-256 of each."""
    classes: Mapping[str, tuple[str, ...]]
    """Folders of tool classes, below ``api-bank``, and the files in each; no hash of theirs is known."""
    made: Mapping[str, str]
    """SHA-256 of what should be read out of the classes: of each made file as canonical JSON."""


def _hashes(text: str) -> dict[str, str]:
    return {name: sha256 for sha256, name in (line.split("  ") for line in text.strip().splitlines())}


def _python_files(text: str) -> tuple[str, ...]:
    return tuple(f"{name}.py" for name in text.split())


# The files lvN-train.json of the dataset are left out: they hold the rows of the other two once more.
_UNKNOWN = tuple(f"training-data/lv{level}-{kind}-train.json" for level in (1, 2) for kind in ("api", "response"))

_HUB = """
0d3155c5495399836b5b1f1cc4eb6d5d50efa16b2734af50a016a158e9dd79bb  test-data/level-1-api.json
c02a1bd648727b539e245fa248580f511ee80cae8dad742ed4cfa7e7d7144f75  test-data/level-1-response.json
c61966448d9d5cf98334f39b44c0db1fe5a9c6c84a1f53e652f4aacdbbfc5da0  test-data/level-2-api.json
6dbdce1f4f142fa9073fda8da337dc6ef9c6722d08e99606456afb1ac4dc380f  test-data/level-2-response.json
099097746d0d3e7c65e8c1f2c4fee71fa0eae7b3730acc9f4298a2195dc0b313  test-data/level-3-batch-inf-icl.json
738210a725d3be1d70d358b5d6e9c5a000d3a0c940a574f81be2127d8ef802a5  test-data/level-3-batch-inf-response.json
c201843f4be19b80dd035ac9aaaa2ff0d40962a21dff66195f8f19744acd45e8  test-data/level-3-batch-inf.json
29542493a302915303d5d67f868282ddda46fa15ba059a4bcf38c6687be29d55  test-data/level-3.json
f9223633cb0ea4f26182aa3bca48590dff26e6b620163377d2b3059e7660413f  training-data/lv3-api-train.json
68f912b4928b0b903ea41ff567bb347236c8de70b9756734efb2f9cb5b0e7b0f  training-data/lv3-response-train.json
"""

_ARCHIVE = """
9341ebe9a9ab396b69310b80d6954a3dbba6c9ffd2fa5931e20bcf89202be6c0  data/all_apis.csv
891c5cceb5f053fdce3a2dd931508d2d329d8fdf734ddd2488418d82c35cbd91  data/exceptions.json
179761beb5b0ed6ed46f4e0c1e9aaafee2c57d81d068d5ee7432af1ea2856afb  init_database/Account.json
6064f59450d0a604001dd49780d935c259d0316ac77c73a8e065d0c296855902  init_database/Agenda.json
5b4892abb58bd04ac1aa83ac6073d66e7d54c0b347fed11b9e051d0a64a9b4d6  init_database/Alarm.json
5f5ef14e2fd6d38c1aaa8a02074c49d58ac5dffd4c658959a7a9c077cf85744a  init_database/Appointments.json
bcb6d5f35b02ee0973663bf161b7ef33bfc50c8d03bca71fc7a52c7d3ba8366c  init_database/Bank.json
89cdbe228d1ff794d6baa763b782c370e8363426612fde8c17c3e628e92ffc71  init_database/HealthData.json
1cea80b1df7d9c8373666b2e5bb00515b07d9903d9b090d4983c50412874d734  init_database/History.json
53e5672479066658d58868a61ca329d6f892b81e6196bc041e40e3b8f89f957f  init_database/Hotel.json
3bcdb311b3028dfb6f0d822542958b10b194488f623286d7c15f5f3368bd38d8  init_database/ImageCaptioning.json
8d11d457dd1dd6610d036752640ed7b9e2cc9f5b1b71d82f352e4c2195be6935  init_database/Meeting.json
aa7098462bd87ab69e8bb1c21394585384fcbe2c65bae1fe2d5f17f2848b6dca  init_database/QuestionAnswering.json
c944fe6892a453525709aec20dc490247727c87881140769631f4b4174e9b305  init_database/Reminder.json
0d20c733d724e346046c8f7298faa007c33063eb4d63f0adb4f99fb8cebca1b0  init_database/Scenes.json
d42929cf13fbbc73b98d34dff2822065b6ed623d2f59576134bae235e670984f  init_database/SearchEngine.json
8315b3fa57995986e3d3f126a72e9cc271a7553d953acd5b1ec8068912af0955  init_database/SpeechRecognition.json
02bb3b325366d17babc2f84d93fc817d47711addde05898b9969dcd8c8c984b5  init_database/Stock.json
ed96c682712d812e7f5c4d00e1f0cf317e7ee85485b62e5087f97725ae2a79d4  init_database/Symptom.json
c95a92bb01296c11c6cf5854990f8c2acc3d977ae11e4166073f8aa07a779fa6  init_database/TimeSwitch.json
4174fc92c03b02ebdb17797b131887abea71e19c07a0acad3dc46e4f10e5fad0  init_database/Wiki.json
efe74ef0a01c32717f983b1d779f7dc979b4f90da5c1335726d0f7121667428e  lv1-lv2-samples/level-1-given-desc/AddAgenda-AddAlarm-GetUserToken-level-2-1.jsonl
4e6e2dd795e3db0b3f590077029c2a199a5768bfcecc5e9f661a5c02ac29d46d  lv1-lv2-samples/level-1-given-desc/AddAgenda-AddMeeting-GetUserToken-level-2-2.jsonl
3446a90a8322676443e83117911eca7ecaba052128894097ca4e31ac5932c956  lv1-lv2-samples/level-1-given-desc/AddAgenda-AddMeeting-GetUserToken-level-2-3.jsonl
8ff5126f2e48498e00b1c169a29fdb0817dbb2385f5f9be3ad3665542c0fcf83  lv1-lv2-samples/level-1-given-desc/AddAgenda-AddMeeting-GetUserToken-level-2-4.jsonl
1cd20b3cabdea2a7237fdbcbca615d6e54b8bd3aa5d9d4cdcb69e7956f201c33  lv1-lv2-samples/level-1-given-desc/AddAgenda-level-1-1.jsonl
757247188a06a0ca87b7e3bd2601b3f74a12c992d886d83144da50a7612bee4a  lv1-lv2-samples/level-1-given-desc/AddAgenda-level-1-2.jsonl
e82db4f329f8a721d5ad1118695d27f6984a0990a6d65139964d0750afae0f41  lv1-lv2-samples/level-1-given-desc/AddAlarm-GetReminder-ModifyAgenda-GetUserToken-level-2-1.jsonl
cec234e0d21f9e5a11f078b3fb3b395ebf03d4473ab3a615a479636199e1854b  lv1-lv2-samples/level-1-given-desc/AddAlarm-level-1-1.jsonl
c8f75c2ed8297225c0ef7c8bcfbbc949aca0dd450cbed143344baf7f8f10b1ec  lv1-lv2-samples/level-1-given-desc/AddMeeting-level-1-1.jsonl
dee9049e3c0211ea10ffc7f7523c3d58ec1e2b30fd88fb64eabda774cbd75c5a  lv1-lv2-samples/level-1-given-desc/AddReminder-level-1-1.jsonl
a805adf81a941b8b01156f5d93263cb82a4abb8a67f89dc92daed3c4d5cf2517  lv1-lv2-samples/level-1-given-desc/AddReminder-level-1-2.jsonl
281e2be7f715dd6bad85a06389381ecfed427256d18f43ad7a19ed4420b6bb35  lv1-lv2-samples/level-1-given-desc/AddReminder-level-1-3.jsonl
8b97830e61400b61232b1b0deac5d00e5f10bb8b9ce54af97adc7c2767bcbf5d  lv1-lv2-samples/level-1-given-desc/AppointmentRegistration-level-1-1.jsonl
f73063204176f3bae169eab0f19c0d25b4b3087d1ca4d409f5f46019755b87f1  lv1-lv2-samples/level-1-given-desc/AppointmentRegistration-level-1-2.jsonl
8a819316fdbd940fbf126688a1fca6da57bdc27f016ec5994793200c22ef4296  lv1-lv2-samples/level-1-given-desc/AppointmentRegistration-level-1-3.jsonl
458e4c13ae57e27d0e14ab08ef7f7ea62fa7b85de0f75b11a52e92faef1597a1  lv1-lv2-samples/level-1-given-desc/BookHotel-level-1-1.jsonl
04cae12fa5b3100c17a9e11e801ccd1503c43607722f7786caf827708405d98f  lv1-lv2-samples/level-1-given-desc/BookHotel-level-1-2.jsonl
f3746014bcebbb7cf8d90da6557262c874d7cd297a3bd451042033df0d0a96fa  lv1-lv2-samples/level-1-given-desc/BookHotel-level-1-3.jsonl
8bfbe62be659e98459c024eaff042b381daa1b9956ec47fd92a41f4e804d5f4a  lv1-lv2-samples/level-1-given-desc/BookHotel-level-1-4.jsonl
aff6b71f65537b2572f896d96507a19cf72fcb5f20bb17f8ac0166523246a9b9  lv1-lv2-samples/level-1-given-desc/BookHotel-level-1-5.jsonl
f71ceac19dfa8bf855857221883efad32872b60c5c05b782004a8e4fa03c8ad9  lv1-lv2-samples/level-1-given-desc/Calculator-QueryHistoryToday-level-2-1.jsonl
4528c1c9e3aedad23a26d03946f7e8075f4ddaf897b02807c0610b3be2047ed9  lv1-lv2-samples/level-1-given-desc/Calculator-QueryHistoryToday-level-2-2.jsonl
d6aa23c0fce8fda0d461e4674e4db12d4c341df3b310592b9367d4c4bb48ee1f  lv1-lv2-samples/level-1-given-desc/Calculator-level-1-1.jsonl
9c454fe1b9771eb69b05658a8bc01043f34f2a5434524e173299c4ebbde158a9  lv1-lv2-samples/level-1-given-desc/Calculator-level-1-2.jsonl
52c9e9fd2ac17921cc2ca991ac81a3d68d308c1205abb752355036ff02827bb1  lv1-lv2-samples/level-1-given-desc/Calculator-level-1-3.jsonl
c22eda6c01a19f092e582e0941eca10b1732b671966122fc74a11df58b4112bf  lv1-lv2-samples/level-1-given-desc/CancelRegistration-RecordHealthData-QueryRegistration-level-2-1.jsonl
79c97620e9e16599362d75e6ee4af6f9e1aae9bc33b1d34ce6f9635b9e955347  lv1-lv2-samples/level-1-given-desc/CancelRegistration-RecordHealthData-QueryRegistration-level-2-2.jsonl
3def7aeb712d3372ea0b26434ddf6aa6db5076d74905acd89339fbccab6b0468  lv1-lv2-samples/level-1-given-desc/CancelRegistration-RecordHealthData-level-2-1.jsonl
8a39a61423a5ebfdfadae98f3bdec4d56e249ae625a6b66a387b21292fbed9db  lv1-lv2-samples/level-1-given-desc/CancelRegistration-RecordHealthData-level-2-2.jsonl
1bd6bd2b844f0c3cc17a6a21cf8781f3db65fd43562fc2575a4b9ba6325f61cc  lv1-lv2-samples/level-1-given-desc/CancelRegistration-RecordHealthData-level-2-3.jsonl
b816e9939788f95ce6f4a007d11ad2abdd7972a77b7cffeca9b1a041374893d1  lv1-lv2-samples/level-1-given-desc/CancelRegistration-RecordHealthData-level-2-4.jsonl
7b166dd2ee181b0a0e682d07191d056e98bd3a2631bbdaca479c026a31d6690a  lv1-lv2-samples/level-1-given-desc/CancelRegistration-RecordHealthData-level-2-5.jsonl
1aedd204b1e0e44c8a32881d275a3ad296f3cdfb79c3cc6d065ce6a1f36cedef  lv1-lv2-samples/level-1-given-desc/CancelRegistration-level-1-1.jsonl
85a65f94cccf7e10033a1936e14a3708b6095138bd94909e739305e725859452  lv1-lv2-samples/level-1-given-desc/CancelRegistration-level-1-2.jsonl
ed47235d827a6dc7223b10fe248a1c8efd51201e8ac6cb3191db19ca1e1e9be8  lv1-lv2-samples/level-1-given-desc/CancelRegistration-level-1-3.jsonl
7a832d53d064c184e6e2184048179d60ed36a79193a459553f3334ac0ba11790  lv1-lv2-samples/level-1-given-desc/CancelTimedSwitch-level-1-1.jsonl
e77188d465d5ea7054cd54504adf4a9b8c972acb17e879a791bd55ac7c898b6d  lv1-lv2-samples/level-1-given-desc/CancelTimedSwitch-level-1-2.jsonl
1d38b89adb948de8ccec39775e130c55785f652509407a199bd80cb8491c7b68  lv1-lv2-samples/level-1-given-desc/CancelTimedSwitch-level-1-3.jsonl
4a18341fcbd05958126a5d69135acddc3d42479ea1c219537066f028bc2c2009  lv1-lv2-samples/level-1-given-desc/CancelTimedSwitch-level-1-4.jsonl
2582f93e395167ddb9871bced39845735ebe94ce74a90dec0203138a7097c1cd  lv1-lv2-samples/level-1-given-desc/CancelTimedSwitch-level-1-5.jsonl
2d1c4789351bc2c9a988896c257273cf699c785523ee7f857fc3ca52daa45b21  lv1-lv2-samples/level-1-given-desc/DeleteAccount-ModifyPassword-GetUserToken-level-2-1.jsonl
ae6c04b48add7a4dcf003f97d08dbb9d27708d387ed0aa9b26605e2b7a968042  lv1-lv2-samples/level-1-given-desc/DeleteAccount-ModifyPassword-GetUserToken-level-2-2.jsonl
30491a35a9ffee7c6dcc37810285367109c65dcfc5199b5e6d91ce3dea82ae2f  lv1-lv2-samples/level-1-given-desc/DeleteAccount-ModifyPassword-GetUserToken-level-2-3.jsonl
04c95ceefb7c659d7ed9b8231861a74da521fa2bb4240dbff06602306a58d5d2  lv1-lv2-samples/level-1-given-desc/DeleteAccount-ModifyPassword-GetUserToken-level-2-4.jsonl
4a5283e0f3c859e3baebeeb81986fe21b7c48c2b6fccd120654f3d611af55092  lv1-lv2-samples/level-1-given-desc/DeleteAccount-ModifyPassword-GetUserToken-level-2-5.jsonl
19ebc037fde2cf236e418e4cde28bf0770b1f798bd5d7ffb76108292fa712022  lv1-lv2-samples/level-1-given-desc/DeleteAccount-RegisterUser-ForgotPassword-GetUserToken-level-2-1.jsonl
21c4726ce7ed6d884b0ab4c3ea70f8c8b733d2bd37329355d1603f3ef111b27a  lv1-lv2-samples/level-1-given-desc/DeleteAccount-RegisterUser-ForgotPassword-GetUserToken-level-2-2.jsonl
d05b8c6795055875c9d2e255018dbecd3d9f95a021afc8c0038fa5f58343eaeb  lv1-lv2-samples/level-1-given-desc/DeleteAccount-level-1-1.jsonl
eb75b6834f494a261529d9d1145aea98b8702414f6bd1eee2566c302b79aa00f  lv1-lv2-samples/level-1-given-desc/DeleteAccount-level-1-2.jsonl
67db389fd3a4494a6ddbc222f71460d2aa6484912e972105d16746e055b2a6fa  lv1-lv2-samples/level-1-given-desc/DeleteAccount-level-1-3.jsonl
9439ac4e0bbaa24b74ab9cab4dbdf4f61065c4339d173744ef35beb74857ea15  lv1-lv2-samples/level-1-given-desc/DeleteAgenda-AddAlarm-DeleteMeeting-GetUserToken-level-2-1.jsonl
66e508013f13701e42bc02820be1d3565c9bde5222a7894aa3892fd1a6572fe6  lv1-lv2-samples/level-1-given-desc/DeleteAgenda-AddAlarm-DeleteMeeting-GetUserToken-level-2-2.jsonl
2ade2f16e50689b34c2d6379fc6f885f0f49d7fbcf9fdd1cf34a85ee37c4faba  lv1-lv2-samples/level-1-given-desc/DeleteAgenda-level-1-1.jsonl
7e0331efb6b0f7b3fc76a7c39fd4f7c37cca0d7f0b4fcfc08853248607bb30b2  lv1-lv2-samples/level-1-given-desc/DeleteAlarm-AddAgenda-GetUserToken-level-2-1.jsonl
2511bab73091040ca3fe2a83fad132632e9e1e496df01fa76619018387ef273a  lv1-lv2-samples/level-1-given-desc/DeleteAlarm-AddAgenda-GetUserToken-level-2-2.jsonl
ed68af9257c84d3f7ad8adab12d662b863d9cb8c62d41eb42a448e60b7d2ed1d  lv1-lv2-samples/level-1-given-desc/DeleteAlarm-level-1-1.jsonl
da6a2e32a004e2e11c97dd41b706bb439e15b335962bb514cd6403031c1ebcbe  lv1-lv2-samples/level-1-given-desc/DeleteAlarm-level-1-2.jsonl
5636ea6a4f44191cd260ec541003d3a533688711c653a0696cff99129f0c8e15  lv1-lv2-samples/level-1-given-desc/DeleteMeeting-level-1-1.jsonl
5d5b4987f6c671000faa0cd0354d38d81b6f373e8ca9257e47619ada9da73544  lv1-lv2-samples/level-1-given-desc/DeleteReminder-level-1-1.jsonl
3bfcc1a6784d5766ae0098a24bddd522d451f1666c5fa949a682b890c218db7a  lv1-lv2-samples/level-1-given-desc/DeleteScene-level-1-1.jsonl
209d670cff04cfec6507ef423a0cbbdb44592910b272145c044da6a825cbec47  lv1-lv2-samples/level-1-given-desc/DeleteScene-level-1-2.jsonl
8bfc8add459075692f128f50db15971dc16f2a37cae626c70872b87fb56ba2a8  lv1-lv2-samples/level-1-given-desc/DeleteScene-level-1-3.jsonl
87584ded86d58f5d598cffb021e109faf6fbad386deda126fc3b35ba862bab11  lv1-lv2-samples/level-1-given-desc/Dictionary-level-1-1.jsonl
ea50330dca7b6ed092ddc40f1df6363433f248b31a6f269ee2dc6a8a04986046  lv1-lv2-samples/level-1-given-desc/Dictionary-level-1-2.jsonl
11646b5bb2f177c628401d5919c7af2c1ac1ab54fc38679f8fb182e577fccf91  lv1-lv2-samples/level-1-given-desc/Dictionary-level-1-3.jsonl
d10acd0689d14ed1319896936dfdb1b02b8ac2e3d4e36f02a35806a5dd26ad61  lv1-lv2-samples/level-1-given-desc/Dictionary-level-1-4.jsonl
7882311c0dcaf75b8ade529dcb7588382df0fcc76a9070ef7790714b595f6066  lv1-lv2-samples/level-1-given-desc/DocumentQA-level-1-1.jsonl
c6b789d5f83f8da6fc55c5305f00f1bb8f2cd424d93a0ef99c38b46191498bae  lv1-lv2-samples/level-1-given-desc/DocumentQA-level-1-2.jsonl
ab00e97bffdf83e84ce58d7924bacd9316bbdaeb62861b571012f2e5cd520bd1  lv1-lv2-samples/level-1-given-desc/DocumentQA-level-1-3.jsonl
342a497fe6e347f511ad1350d744d7d94df01506a74963b829cdd21e5e415a52  lv1-lv2-samples/level-1-given-desc/DocumentQA-level-1-4.jsonl
8e9c75e5008f865d0754d65719d55d8d93bf71d18f80e69bcaafb490964c5a90  lv1-lv2-samples/level-1-given-desc/EmergencyKnowledge-ModifyRegistration-RecordHealthData-level-2-1.jsonl
f4ed44f01c4f1878f83fec6bd313a47c1ee2ebc5db541fc18a237ed787a14593  lv1-lv2-samples/level-1-given-desc/EmergencyKnowledge-ModifyRegistration-RecordHealthData-level-2-2.jsonl
9ed57c24d25caab2100233c531fa7f4bbaa32ada4d84af41e2ee7fcb02f60381  lv1-lv2-samples/level-1-given-desc/EmergencyKnowledge-ModifyRegistration-RecordHealthData-level-2-3.jsonl
dca7294b0514796f25a253a8d1c54fbc9e4b11ec7158025101b166524c55df36  lv1-lv2-samples/level-1-given-desc/EmergencyKnowledge-level-1-1.jsonl
ae229ebd509617916d426e112d494d31ba87105bcf7dfd0ebfde11b50dea4ae8  lv1-lv2-samples/level-1-given-desc/EmergencyKnowledge-level-1-2.jsonl
f6d152cd95941fd46169985c8f792c7e1de876bb5276d8b6cb61f7638e0e7f24  lv1-lv2-samples/level-1-given-desc/ForgotPassword-ModifyPassword-GetUserToken-level-2-1.jsonl
e51e24ccabd42d59e6f24fb02b2ed60cd39b8c56052b600d6aa7b1199358644b  lv1-lv2-samples/level-1-given-desc/ForgotPassword-RegisterUser-DeleteAccount-GetUserToken-level-2-1.jsonl
d4388804454b2bcefdad6dd73526262e15f0588e163c39784cdbbc05a57e5859  lv1-lv2-samples/level-1-given-desc/ForgotPassword-level-1-1.jsonl
335f559de26b2adc0277fb1a7dbb41eca666ca28d19ee7b36cace894cd8343f3  lv1-lv2-samples/level-1-given-desc/GetMeeting-level-1-1.jsonl
8284931a287cd67d06032f60086efa43ffac8f4c1b934a1be1e4d5b092aaa471  lv1-lv2-samples/level-1-given-desc/GetMeeting-level-1-2.jsonl
3fae16712728c627e0b05bbb7ebd930cbfe8a336c011f1109b1d934dfa19cb7a  lv1-lv2-samples/level-1-given-desc/GetReminder-level-1-1.jsonl
4d95efa24498281c8746ed66e9fe04da609107fae068211caddb47202a47d38c  lv1-lv2-samples/level-1-given-desc/GetReminder-level-1-2.jsonl
b269b512d16ac1c858d4b393d304a06070afaa906faa3aec0d96687b1f2d9263  lv1-lv2-samples/level-1-given-desc/GetToday-ModifyMeeting-ModifyAlarm-GetUserToken-level-2-1.jsonl
21222c016ddd230ff641612fbb74bb75038f8899c078cd8d08ce6067cf7d4c08  lv1-lv2-samples/level-1-given-desc/GetToday-ModifyMeeting-ModifyAlarm-GetUserToken-level-2-2.jsonl
6dffa9a4f133faae88371f3b1db9cadbf45fc1de2378feeeb8ce60f505ea754f  lv1-lv2-samples/level-1-given-desc/GetToday-level-1-1.jsonl
4701c8f6e4f8b72bb7560a6843f66f2cce8c8451a7a1d2212dbc37d0c4e95968  lv1-lv2-samples/level-1-given-desc/GetToday-level-1-2.jsonl
c66dd139433b06d61c6778bcf2e2668beafcbe4322223f8eb1a5823eac3aa083  lv1-lv2-samples/level-1-given-desc/GetToday-level-1-3.jsonl
01b8cfb0a7a16e74c09cd7dc16ec5c33636d4ae2199980a6abe2814581322ba3  lv1-lv2-samples/level-1-given-desc/GetToday-level-1-4.jsonl
19e72896953c7789570a25840d0f1f468464740fc2d9d7518d95be35b742ccbf  lv1-lv2-samples/level-1-given-desc/ImageCaption-level-1-1.jsonl
5aab64bba2adb58ea0c737017a36e4b7db2f67c05f1c43a4b6a3acd6374ba26f  lv1-lv2-samples/level-1-given-desc/ModifyAgenda-level-1-1.jsonl
c55386aaf9583ccbd5dd7e7ceca87cdeaf6094031df22b0c7a7b695a86e7bdb2  lv1-lv2-samples/level-1-given-desc/ModifyAgenda-level-1-2.jsonl
142fc1cbdba2afb5a9ff3e9362378367c801b960b4a6d9a1c86adf05f291c97a  lv1-lv2-samples/level-1-given-desc/ModifyAlarm-AddAgenda-GetUserToken-level-2-1.jsonl
62bcb13e629486daa0e5cab7cbf293aa3bf04198a759f8487d27a155bbc3fa14  lv1-lv2-samples/level-1-given-desc/ModifyAlarm-AddAgenda-GetUserToken-level-2-2.jsonl
ba125e7193d05be15cafd1238fca39f5676f27d86fe01d42d42a5ea4c1f4cd0c  lv1-lv2-samples/level-1-given-desc/ModifyAlarm-level-1-1.jsonl
eac7e2827ca97a2882696c2262680eeec4ca118cc7468a0621487a21d1547c6e  lv1-lv2-samples/level-1-given-desc/ModifyAlarm-level-1-2.jsonl
016e13099375084f22961e4a02041181e3c64a188de0aaea51f3cfa6f20fc1b7  lv1-lv2-samples/level-1-given-desc/ModifyMeeting-level-1-1.jsonl
e6567c65820d05ab66d6fe46e46eaeb64435947b4b60bc09818390f212372a60  lv1-lv2-samples/level-1-given-desc/ModifyMeeting-level-1-2.jsonl
2fcabd19b34d48e75ecfeca125c24896fc4d18b132c462b7a4f814dc51b6bff6  lv1-lv2-samples/level-1-given-desc/ModifyMeeting-level-1-3.jsonl
2e322dffe867d12c0ab7bd97c7198a25a2f19d9bb54ff922bcd3349685899edb  lv1-lv2-samples/level-1-given-desc/ModifyPassword-ForgotPassword-DeleteAccount-GetUserToken-level-2-1.jsonl
e54fa6a88caa4a3d1c143e633d7a4e08bc1e32ea933814df0a1ee2f324c1271b  lv1-lv2-samples/level-1-given-desc/ModifyPassword-ForgotPassword-DeleteAccount-GetUserToken-level-2-2.jsonl
4206990e8fb7e4b29a25eed86b24ba84b500277ec352124663f3cd17256d7452  lv1-lv2-samples/level-1-given-desc/ModifyPassword-ForgotPassword-DeleteAccount-GetUserToken-level-2-3.jsonl
a13722ace6cd7bcfaa493263eddbbd5704f6c56c256de743308dbe71c931cbfb  lv1-lv2-samples/level-1-given-desc/ModifyPassword-ForgotPassword-DeleteAccount-GetUserToken-level-2-4.jsonl
1128e182e56a8f185408bf745399c44731b871a089626d51a638a6d34dde825b  lv1-lv2-samples/level-1-given-desc/ModifyPassword-RegisterUser-GetUserToken-level-2-1.jsonl
455cbfcd0b035a2fda5fd6960fa8370d619b80617203e0392bf69917cc2dddb1  lv1-lv2-samples/level-1-given-desc/ModifyPassword-level-1-1.jsonl
70d563983fde9ece5798378e0a550f3ed2f05943c35c2f955fdf58c2d2a41c92  lv1-lv2-samples/level-1-given-desc/ModifyPassword-level-1-2.jsonl
0c9295397ebb0baa7e30d181fd4266c6f99e912065fff8bef0cd28b92da0ddbe  lv1-lv2-samples/level-1-given-desc/ModifyRegistration-EmergencyKnowledge-level-2-1.jsonl
b8a5cef361e95f5a9f220c8f93467b5db45f219e9d71ab17d7a14e6cd7121f1c  lv1-lv2-samples/level-1-given-desc/ModifyRegistration-EmergencyKnowledge-level-2-2.jsonl
ad28c90abaa59100d962a38e2a433f3a86fd252c4c045ab2c3c78f107081d0cb  lv1-lv2-samples/level-1-given-desc/ModifyRegistration-EmergencyKnowledge-level-2-3.jsonl
b7c00c885d5ea8ec5ef0ad04da8b14d2db0c7c17be73a69f2a7d546589f2e381  lv1-lv2-samples/level-1-given-desc/ModifyRegistration-EmergencyKnowledge-level-2-4.jsonl
9a35f359205e8d47816e76294a7f63664754e2977e5a966d54439c31ce6480a5  lv1-lv2-samples/level-1-given-desc/ModifyRegistration-QueryHealthData-CancelRegistration-level-2-1.jsonl
0bfe02bbb7d90d39b8250ddaba84e0ebba01f7b36a1921c9497399d8f8f44e00  lv1-lv2-samples/level-1-given-desc/ModifyRegistration-QueryHealthData-CancelRegistration-level-2-2.jsonl
87efb8bc25f41f9f42cd1aefa27848a3b186328c0f2f66dc2589c0ad8cf9087c  lv1-lv2-samples/level-1-given-desc/ModifyRegistration-level-1-1.jsonl
e0434c2f255bee4cc071112976375d517ee80c25a4bba151d59c870fd6db6ae1  lv1-lv2-samples/level-1-given-desc/ModifyRegistration-level-1-2.jsonl
5280accb6c5f73d0a3f6c233eed30dc3aec18f7bfcce8f730821030184e573f3  lv1-lv2-samples/level-1-given-desc/ModifyRegistration-level-1-3.jsonl
0c40ebe44dc37dda0ccbfc96df9506a98a860ea0be266cb569367cd0e879f93e  lv1-lv2-samples/level-1-given-desc/ModifyRegistration-level-1-4.jsonl
c53c1a0e990a679e8b53f992b0bd37b2d31c9990204469a4b6b18c3e7d10b84c  lv1-lv2-samples/level-1-given-desc/ModifyRegistration-level-1-5.jsonl
1664d6f9058a61295c0c08203c766f9c4e3be1fea970645d589d39ae9d831e5d  lv1-lv2-samples/level-1-given-desc/ModifyReminder-AddAgenda-DeleteAgenda-GetUserToken-level-2-1.jsonl
87f5b2c90cf9fc0df57b855c5e50d863f68ce4cf1f499f968b91a60ca70935cc  lv1-lv2-samples/level-1-given-desc/ModifyReminder-AddAgenda-DeleteAgenda-GetUserToken-level-2-2.jsonl
cac593ba93945b3d8062ded98d1c142054c152e4840eb27bd447a84ad7dfd1e3  lv1-lv2-samples/level-1-given-desc/ModifyReminder-AddAgenda-GetUserToken-level-2-1.jsonl
69e267833bd4355ad9aec2e4c9b982d8a46ebf736b7c1b87901418e7d61242e6  lv1-lv2-samples/level-1-given-desc/ModifyReminder-AddAgenda-GetUserToken-level-2-2.jsonl
736f1c72bfa4151ded7f9d432a5f185751fb4a59a5891410830babf1e0738968  lv1-lv2-samples/level-1-given-desc/ModifyReminder-AddAgenda-GetUserToken-level-2-3.jsonl
fb7b3383f87291bdb80a590e11e06482d06972404c7794f694b71c4eee1d4d1a  lv1-lv2-samples/level-1-given-desc/ModifyReminder-level-1-1.jsonl
dd34d6be3ce46c8cc068b8c54b368a33ff8094ad15303a27058d2bee02d5434a  lv1-lv2-samples/level-1-given-desc/ModifyReminder-level-1-2.jsonl
87a8414c71550eaa6051151489fd7423d48bc39622af214c820b9da6643101a1  lv1-lv2-samples/level-1-given-desc/ModifyReminder-level-1-3.jsonl
42c5240bcf7a43a79fbf003ead9b7892989a5efbeed4e1bbdebbe736f5eb5680  lv1-lv2-samples/level-1-given-desc/OpenBankAccount-QueryBalance-QueryStock-GetUserToken-level-2-2.jsonl
8496cefaaabf896a0cd6e758af1e3ab51277307224fde09abdaa9e699682c218  lv1-lv2-samples/level-1-given-desc/OpenBankAccount-QueryStock-QueryBalance-GetUserToken-level-2-1.jsonl
2d2ab743b51d1066c494e97ada1da670e44e13c8971375fefe0ce1e49027e888  lv1-lv2-samples/level-1-given-desc/OpenBankAccount-QueryStock-level-2-1.jsonl
6de29bfb9f5beee049c6a36d20d083af32c4de364d9988e28061e4c8104d0fa2  lv1-lv2-samples/level-1-given-desc/OpenBankAccount-level-1-1.jsonl
c69d5e497f0cd4392f540d9d3cd3d8b708e46352e1c30415fe0e628e661d6d8d  lv1-lv2-samples/level-1-given-desc/OpenBankAccount-level-1-2.jsonl
01e9fc3b735cb42aef79ac394969cf4a879327849537bbb786bd7ac785f96c3a  lv1-lv2-samples/level-1-given-desc/OpenBankAccount-level-1-3.jsonl
86fd67f001d00e50d15f25e264bd2f82658e734c1cf3e6fa7f2128ee9558ede7  lv1-lv2-samples/level-1-given-desc/OpenBankAccount-level-1-4.jsonl
c0b920d92426969b9d4925c28d6f16f5a8c6d8f35570bd06296f9c514c63d266  lv1-lv2-samples/level-1-given-desc/OpenBankAccount-level-1-5.jsonl
1ce60491956d61d8d0e8ca870fa7b672dd60f0bd5a70a9cb85b8963af4973fb3  lv1-lv2-samples/level-1-given-desc/PlayMusic-level-1-1.jsonl
22c57dec11db4eecf0b9605cd27d0899a42abb48c634ea9ea54e96c81bb15363  lv1-lv2-samples/level-1-given-desc/PlayMusic-level-1-2.jsonl
4d445690d38eb503bada0000e0d4a7669e1e5abab76820e58d6b546c45b775b6  lv1-lv2-samples/level-1-given-desc/PlayMusic-level-1-3.jsonl
25ca661ea5bc8e290a868fddbfb2bcacefb0258fe887298835cd28a141a28c37  lv1-lv2-samples/level-1-given-desc/QueryAgenda-level-1-1.jsonl
c8437d779f235af01691cc2c8255633278cf63791ae742d9d3d65b538370c241  lv1-lv2-samples/level-1-given-desc/QueryAlarm-level-1-1.jsonl
9deaac8a2f963ee39b947ee01ffd322ace69580ec0b43461a76a56c420c9b0a6  lv1-lv2-samples/level-1-given-desc/QueryBalance-OpenBankAccount-QueryStock-GetUserToken-level-2-1.jsonl
5ebada0b0075124808c36e111df8a1eb5ccf93789fe7f19f8021aa770fb57a27  lv1-lv2-samples/level-1-given-desc/QueryBalance-QueryStock-OpenBankAccount-GetUserToken-level-2-1.jsonl
849caf2dbb99cfa33049954209fffec32214000b8bafca7134b10248dc4d2f56  lv1-lv2-samples/level-1-given-desc/QueryBalance-QueryStock-OpenBankAccount-GetUserToken-level-2-2.jsonl
d6b003faf0c0b7f70e6791c255c6c0fac4a4483f5a20a72b0ab4ff484a07e06d  lv1-lv2-samples/level-1-given-desc/QueryBalance-level-1-1.jsonl
a2b98e043051cdd07e7f136350f8354212237fcb6ef18a4f907892e261666d19  lv1-lv2-samples/level-1-given-desc/QueryBalance-level-1-2.jsonl
62e17eba64c5107569f2d52bbc6851f5dd8c20615b49958bfd665f9e2549905d  lv1-lv2-samples/level-1-given-desc/QueryHealthData-CancelRegistration-SymptomSearch-level-2-1.jsonl
06c4a8c115e0d726d9bdd87cd07264143a299e76cdedff07d9765d802afefa43  lv1-lv2-samples/level-1-given-desc/QueryHealthData-level-1-1.jsonl
87056200a6b66b28660472860ad8d430b837305fc41dc6bf4b65b60f94f980a2  lv1-lv2-samples/level-1-given-desc/QueryHealthData-level-1-2.jsonl
0d6a74a505e378b1d6c037198d53d0a545e319531aa998e8407b119df1be33c0  lv1-lv2-samples/level-1-given-desc/QueryHistoryToday-Calculator-level-2-1.jsonl
b04f6494178ca754f63fea3e1880986e0cf9125508113d5562766ae5cd65773a  lv1-lv2-samples/level-1-given-desc/QueryHistoryToday-Calculator-level-2-2.jsonl
7828481c74c1b8f6713480ef59ab074489adea9394202ffc195c93b3a7215daa  lv1-lv2-samples/level-1-given-desc/QueryHistoryToday-Calculator-level-2-3.jsonl
c6dfc5329b91b29778dedc5fa3d1dfba71f2f3a8c365148aefd12817655df7c7  lv1-lv2-samples/level-1-given-desc/QueryHistoryToday-Calculator-level-2-4.jsonl
05a71b0d3dca5edaa846a122547be992766752f4a6327a22ae679f71c71ba41d  lv1-lv2-samples/level-1-given-desc/QueryHistoryToday-level-1-1.jsonl
cd501136ea0b4b85f5e0ff9ea00f3dce460fbb5021a165cdd7d9dfd763c98d2e  lv1-lv2-samples/level-1-given-desc/QueryHistoryToday-level-1-2.jsonl
e70ecf220ccee24c5bf2eda455d9bf5aba8cde892c089694be02dbf8082395e8  lv1-lv2-samples/level-1-given-desc/QueryHistoryToday-level-1-3.jsonl
587d9bd704f95a9e99180f57a85f680a9c7b496bd9517816e6f75be5ad3efefb  lv1-lv2-samples/level-1-given-desc/QueryMeeting-level-1-1.jsonl
fe1146daef2545500cefb71f5cede67da1ad99a3d3108aa893ee6fcf7a930e73  lv1-lv2-samples/level-1-given-desc/QueryRegistration-AppointmentRegistration-level-2-1.jsonl
a32ff24cbffb5eac098ec7eda793630aa4da9776b5125e53b87745aa34491e58  lv1-lv2-samples/level-1-given-desc/QueryRegistration-EmergencyKnowledge-level-2-1.jsonl
06a16c4fa59e3b7a3dfd610112cbc3251422429179766611f65c61a6124fc3a6  lv1-lv2-samples/level-1-given-desc/QueryRegistration-EmergencyKnowledge-level-2-2.jsonl
aaee9f341fd20754abcfae8c3ea0557453d224765dee4d1c92466ff6ac2e0bce  lv1-lv2-samples/level-1-given-desc/QueryRegistration-EmergencyKnowledge-level-2-3.jsonl
6ca1c832b0d0943fe82f1adc4e3615ab8931c6ad98e1e8e96d6e23105783779e  lv1-lv2-samples/level-1-given-desc/QueryRegistration-EmergencyKnowledge-level-2-4.jsonl
9760ee6b9c3a53c70ae28a3e49b26d48e444f27333e899baf59eafe052bcfb56  lv1-lv2-samples/level-1-given-desc/QueryRegistration-SymptomSearch-RecordHealthData-level-2-1.jsonl
890dc3004ee3563bc9a79e3c57d5a1988fd4876a312d826bf938e8b18f5bde66  lv1-lv2-samples/level-1-given-desc/QueryRegistration-SymptomSearch-RecordHealthData-level-2-2.jsonl
506109b44050107e3fcd48004a3f887e1126a8f78559af35c1d7b2728076d46b  lv1-lv2-samples/level-1-given-desc/QueryRegistration-level-1-1.jsonl
d5d0352d85949fa99cb238933a866098efb825a4e01cb81f53a53c379264e29b  lv1-lv2-samples/level-1-given-desc/QueryRegistration-level-1-2.jsonl
d7c48eacec658b0f6fb1cdec97140f3a63564113a9ea47452a6e0cca50bba17b  lv1-lv2-samples/level-1-given-desc/QueryRegistration-level-1-3.jsonl
2a48fc1532ea3e4c63e9ab3ff65fae3c0dbc4b8a171cc01a31ac1101a79039cd  lv1-lv2-samples/level-1-given-desc/QueryRegistration-level-1-4.jsonl
e0e806f5513bdbf80c7e1e4686c85ab7e69fea7300d51626962ea66157bc6997  lv1-lv2-samples/level-1-given-desc/QueryRegistration-level-1-5.jsonl
cb364362b1ccf66b1861905212abe0f0a36aa71a8ddd90bfd048ea23089e76a2  lv1-lv2-samples/level-1-given-desc/QueryReminder-level-1-1.jsonl
3b54f17292e2f52de040bfe231f72ca1e5915a0b058b12ebe36dbd0fd024a4bb  lv1-lv2-samples/level-1-given-desc/QueryReminder-level-1-2.jsonl
1a1e2cb86023bd423c9b10c253de011686e4e85a73f7b35778738fd3d326e9bf  lv1-lv2-samples/level-1-given-desc/QueryScene-level-1-1.jsonl
ce8997ec554740a39a7a27328af94630d7e71b1ac29ed6e416b7df65a7dad367  lv1-lv2-samples/level-1-given-desc/QueryScene-level-1-2.jsonl
5d816aaa25c00ffb8b3bf0dc6f6ee4df4c3e859d188d0c02610ff40b90803ef0  lv1-lv2-samples/level-1-given-desc/QueryScene-level-1-3.jsonl
fc358e1e6efdd2fa21698697bf1074fdf7d0613fd620bf1bb0bd58150a6e92e0  lv1-lv2-samples/level-1-given-desc/QueryScene-level-1-4.jsonl
e51ef7fdc19645b59bf23b32c4f85afcebf47d9a9953e48d79c34ce70349fcbb  lv1-lv2-samples/level-1-given-desc/QueryScene-level-1-5.jsonl
ac40d29e1fe62f2a704e902c8b8c5f0bf446b6b1b56ef9ee2749da8590126d2c  lv1-lv2-samples/level-1-given-desc/QueryStock-OpenBankAccount-QueryBalance-GetUserToken-level-2-1.jsonl
309525597228ecf5f09d32c9874e3f7a0e47f769aafee811defb23f2c1906652  lv1-lv2-samples/level-1-given-desc/QueryStock-OpenBankAccount-QueryBalance-GetUserToken-level-2-2.jsonl
6267e557b6daa8f5939bc26af941ff7ac866400ff4024bcaf316045de75f3fc6  lv1-lv2-samples/level-1-given-desc/QueryStock-OpenBankAccount-level-2-1.jsonl
91f4b899a4966242e4b16f48a7ce66c96d7e6ac83b0586d4f529035f8d45eccb  lv1-lv2-samples/level-1-given-desc/QueryStock-QueryBalance-GetUserToken-level-2-1.jsonl
677021fd64c1061e46242bfd20e5698bb3f001a3e2a7aaa7d4dfec62117af9e4  lv1-lv2-samples/level-1-given-desc/QueryStock-QueryBalance-OpenBankAccount-GetUserToken-level-2-1.jsonl
cbb2361b5bdf4c8f8a78866a93e7fa1ea7ae2237a30831e74dea06f33bc65b72  lv1-lv2-samples/level-1-given-desc/QueryStock-QueryBalance-OpenBankAccount-GetUserToken-level-2-2.jsonl
59a56308838e71381bce1648e53cbfa2f50279fb881401c8899043596f2c9735  lv1-lv2-samples/level-1-given-desc/QueryStock-level-1-1.jsonl
3d57d94f744386e7469e59a9569e9fa7308df8d7086d753893e8a21f80f95815  lv1-lv2-samples/level-1-given-desc/QueryStock-level-1-2.jsonl
fe1947f13dcf4a6b9aa9b1dbebcc57ba98493511d2af7e23b68491875f27ec2a  lv1-lv2-samples/level-1-given-desc/QueryStock-level-1-3.jsonl
cddd55beef54d7d8c32fc90afcc0011e1c88ea253531d382e299a06573fab1f8  lv1-lv2-samples/level-1-given-desc/QueryStock-level-1-4.jsonl
9177efb6b28a915843feedd0b5f179e326ad40755b5a0e04fdb5d71aeac1c0d3  lv1-lv2-samples/level-1-given-desc/QueryStock-level-1-5.jsonl
0380711b022c4b12e7391e6bbf48aa6065c518221cd5e2e5b7fd2a0f72f39159  lv1-lv2-samples/level-1-given-desc/RecordHealthData-AppointmentRegistration-EmergencyKnowledge-level-2-1.jsonl
f8e29b52b1abf5844197dbcf2d0f048de1c0506633ea47da8a291cb954944c19  lv1-lv2-samples/level-1-given-desc/RecordHealthData-AppointmentRegistration-EmergencyKnowledge-level-2-2.jsonl
ca66a682dae9eefea8c6b65cc46f547f2699a76f732fff26eaf57ddb0e217134  lv1-lv2-samples/level-1-given-desc/RecordHealthData-AppointmentRegistration-EmergencyKnowledge-level-2-3.jsonl
1bc1d89ae19260a96830213342e25c1861325fef68dec6d7281d65c5955b6451  lv1-lv2-samples/level-1-given-desc/RecordHealthData-AppointmentRegistration-EmergencyKnowledge-level-2-4.jsonl
959d68326915265ef01df7a1e18572dbe09eeb74237c3dd2129544192b917666  lv1-lv2-samples/level-1-given-desc/RecordHealthData-AppointmentRegistration-EmergencyKnowledge-level-2-5.jsonl
bb4783d34f6950b97da850acdd88dbf34c17b30374c6828346b3d74e31a82644  lv1-lv2-samples/level-1-given-desc/RecordHealthData-AppointmentRegistration-QueryRegistration-level-2-1.jsonl
a7d4f5bcadef8e73f1e23de4990ba1c95436ec432975c18862cd44b63141526e  lv1-lv2-samples/level-1-given-desc/RecordHealthData-AppointmentRegistration-QueryRegistration-level-2-2.jsonl
de4a4f8ee0d61901bbf9c66720840a4a69a03002ed4f5a66779b40540b7f2f03  lv1-lv2-samples/level-1-given-desc/RecordHealthData-level-1-1.jsonl
3e70de1522012730d4125c595f34a33320cead53eb61a9948c3966c51793949c  lv1-lv2-samples/level-1-given-desc/RecordHealthData-level-1-2.jsonl
2763cf4ff2a3f6f1f494aa6dd47d0907e6f77a574c0123026ebac296d20c8ae8  lv1-lv2-samples/level-1-given-desc/RegisterUser-ForgotPassword-DeleteAccount-GetUserToken-level-2-1.jsonl
fed13276eb3186e90bf6634b1d3bc72343a2e12a97938499730f7f74354cbb43  lv1-lv2-samples/level-1-given-desc/RegisterUser-ForgotPassword-level-2-1.jsonl
8df36ed375f8421b89a303738bcf63be4fd1b80d1353f303eaae51436d0999e6  lv1-lv2-samples/level-1-given-desc/RegisterUser-ForgotPassword-level-2-2.jsonl
e52d202603b2500cf88d7ea16d419348bffd805d846e7d52c64ae02b948e3692  lv1-lv2-samples/level-1-given-desc/RegisterUser-ForgotPassword-level-2-3.jsonl
27971fb013554468b84b562c8f07555f819054389ca569736d6832e81ef6b6f6  lv1-lv2-samples/level-1-given-desc/RegisterUser-level-1-1.jsonl
fcaa796edad241d75f236dcb257e9581ed74cf0078ffe8e3cdd11b65a633648a  lv1-lv2-samples/level-1-given-desc/RegisterUser-level-1-2.jsonl
2e81573d6d62ec6df39f747579ea623b20f9a1ebaf15b0e00749229ea293ce38  lv1-lv2-samples/level-1-given-desc/RegisterUser-level-1-3.jsonl
e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  lv1-lv2-samples/level-1-given-desc/SearchEngine-level-1-1.jsonl
dc1745a82ceff3886bb359f950d9a617c95e872a376bac283da5e0907cda26f2  lv1-lv2-samples/level-1-given-desc/SearchEngine-level-1-2.jsonl
5a937b2e930568f9745e2a095a7a1efbfe0e32fab0349ccbdcbf3f739ccefeba  lv1-lv2-samples/level-1-given-desc/SendEmail-level-1-1.jsonl
6447af9c0fd917544e1b2ca948e3f7e672bf0fc6de2a5bb4d0bca5b5a9f3790a  lv1-lv2-samples/level-1-given-desc/SpeechRecognition-level-1-1.jsonl
c19b5235b234d645b9b58b0ccd77ac4c910298ceeb45640d5c3002bb9dd7a7b6  lv1-lv2-samples/level-1-given-desc/SymptomSearch-AppointmentRegistration-level-2-1.jsonl
5143aff6b50bbc0c2ed354607e09ebce76d2066c3e7c8f14c233965f9cc5bac3  lv1-lv2-samples/level-1-given-desc/SymptomSearch-level-1-1.jsonl
3ea4139048294c741242fa923ff1f913a8d2472e5a76d7fbe7b10c859e46009a  lv1-lv2-samples/level-1-given-desc/SymptomSearch-level-1-2.jsonl
c2d106f7270fd00642f09a1e1f0d241f83ee3af3c215b735ad13441417c2738d  lv1-lv2-samples/level-1-given-desc/TimedSwitch-level-1-1.jsonl
94c07f8afd10fe6c2f695d2e500f42ec121896bbe950c688cac1ff833e7ce531  lv1-lv2-samples/level-1-given-desc/TimedSwitch-level-1-2.jsonl
b4b671c97b889cb7d00f5dcb84dd27cc0c334c3f33f34582c6d9c673c52f1453  lv1-lv2-samples/level-1-given-desc/TimedSwitch-level-1-3.jsonl
57c5787d7f61ac69e48f9c828065af5ac32875b4544476d5eb501e09fe9c5a45  lv1-lv2-samples/level-1-given-desc/Translate-level-1-1.jsonl
0a4669cb9cbb62b3aa90e9901170516554a1b8b6e3730bd75bc0f17a03f1e5eb  lv1-lv2-samples/level-1-given-desc/Translate-level-1-2.jsonl
f943ea52353ee95244d071f09476bf3b016bdc13509416182177d9a25188dea1  lv1-lv2-samples/level-1-given-desc/Translate-level-1-3.jsonl
08e55c6d29712040d954d93bdf82186714a58db2393a7dfbabeedd57f6e0e0cc  lv1-lv2-samples/level-1-given-desc/Translate-level-1-4.jsonl
de4c0fbfc3b2275ea1f3903e0251a2c8ff4d80b4cd1ed04d05fd09a75eb38a6f  lv1-lv2-samples/level-1-given-desc/Wiki-level-1-1.jsonl
73930c44517fa3132cb539db53da364ef69bb7432a0db8b78746e32630d40ddb  lv1-lv2-samples/level-2-toolsearcher/AddAgenda-level-3-1.jsonl
cfbfae8abb324d6941b6e550179ff1a33776698c93ad3166583e361947767133  lv1-lv2-samples/level-2-toolsearcher/AddAgenda-level-3-2.jsonl
56d141debd1d0f2eb0599297094513fd772add5d913e78eff29def46cd94ac80  lv1-lv2-samples/level-2-toolsearcher/AddAlarm-level-3-1.jsonl
e60f5b29cd04fa3a6347062aab0691a372af983b6012cb462fb99273af808257  lv1-lv2-samples/level-2-toolsearcher/AddAlarm-level-3-2.jsonl
275c96d40b3df847304922ddcadfa77e279bf459e18d3cd28b814cdb28f70e08  lv1-lv2-samples/level-2-toolsearcher/AddMeeting-level-3-1.jsonl
4238777387a319837d83f5e5aee4c3c34e63cdda8b70a406289275a63ef04262  lv1-lv2-samples/level-2-toolsearcher/AddMeeting-level-3-2.jsonl
6b77f806fc2fc9ae1edb81eab2a95d1bc6d2669f4f67bb89311ccf30fefeb0e5  lv1-lv2-samples/level-2-toolsearcher/AddReminder-level-3-1.jsonl
53ee39a7529abab1aed16bffad0f62a1f11502aab7a393bd012650946db9a9f5  lv1-lv2-samples/level-2-toolsearcher/AppointmentRegistration-level-3-1.jsonl
77c9f9ba666012d61f1ba36e8fc74b79dc6e04b0ce3e8451fb19d3b8c3816f82  lv1-lv2-samples/level-2-toolsearcher/BookHotel-level-3-1.jsonl
0caea92b274352d240d40b04c075948f1f589a20c2de7530770503c7403e966f  lv1-lv2-samples/level-2-toolsearcher/BookHotel-level-3-2.jsonl
1eb703a2c681209ffa306197d624be070545f05c60cade41352f0247ea0fe0a0  lv1-lv2-samples/level-2-toolsearcher/BookHotel-level-3-3.jsonl
dd37423c6752b677885977948ba9bd8a2da0ffa97a338f38484599db5e1ab017  lv1-lv2-samples/level-2-toolsearcher/Calculator-level-3-1.jsonl
a2b8760aa0aab605b3a7295f9f6ffae4e5236b6189f5645db3bfcd55bcddbcbc  lv1-lv2-samples/level-2-toolsearcher/Calculator-level-3-2.jsonl
44fd815a0b86fe946264092ff0b920b635e622111ece1694d9c6c9b121e19980  lv1-lv2-samples/level-2-toolsearcher/DeleteAccount-level-3-1.jsonl
ee22d79d936beaba80dd8a991524b26686f3ce3c7d3def925bb4985366f3e1ea  lv1-lv2-samples/level-2-toolsearcher/DeleteAccount-level-3-2.jsonl
0a62ffc172c5011f4e4cf4dcdfdf625efb3ae8ec78405cdf17f508f262336b6f  lv1-lv2-samples/level-2-toolsearcher/DeleteAccount-level-3-3.jsonl
384dbdd79258a8d616cedf5b593e5aeff447bc7716209e02561f94a2cbdf48a5  lv1-lv2-samples/level-2-toolsearcher/DeleteAgenda-level-3-1.jsonl
2708fa9d9df9794ff91c0394188e86fad8258ff9dcd8f7fd392a30fa502be6b0  lv1-lv2-samples/level-2-toolsearcher/DeleteAgenda-level-3-2.jsonl
1471f1fa716995a288ae671b4e69d2b1401c67b4cd2ab93c725e2d3ba750ef08  lv1-lv2-samples/level-2-toolsearcher/DeleteAlarm-level-3-1.jsonl
a8c665133e97bd99b93bc17d01c1e707b6fc3e689900dc0cbd5fffab007867db  lv1-lv2-samples/level-2-toolsearcher/DeleteMeeting-level-3-1.jsonl
6c00e209e7f02d00234c5cb525d1093e1fd90a6df7e88c5d88d0f16dc9c83811  lv1-lv2-samples/level-2-toolsearcher/DeleteMeeting-level-3-2.jsonl
14018ecad4b5f2ce83ae0358e9ca86a9c5c3bac7b165cfcf1e7c405546581bbd  lv1-lv2-samples/level-2-toolsearcher/DeleteReminder-level-3-1.jsonl
12b33432b122127d28b6df4ea23de3cfa0c42e61b1c6938b742476e77dd1c264  lv1-lv2-samples/level-2-toolsearcher/EmergencyKnowledge-level-3-1.jsonl
588f2ec3a1cf70b2ac7a8e86ac1f9f6653dbfccac662867f794e75685d68f770  lv1-lv2-samples/level-2-toolsearcher/GetToday-level-3-1.jsonl
55f9c2e495f411bc0c79d80c9ef1db9e1bb252ba3e4a405fba87679aaa031dc7  lv1-lv2-samples/level-2-toolsearcher/ModifyAgenda-level-3-1.jsonl
f03bc90437a6c11b1f55a50dcecd49e76ac75e92840810e5447cc99b9bbf0189  lv1-lv2-samples/level-2-toolsearcher/ModifyMeeting-level-3-1.jsonl
cae8f88a593812b86d528eff6440c6be79b9ef7e99eed64d283a1dd05e3559aa  lv1-lv2-samples/level-2-toolsearcher/ModifyRegistration-level-3-1.jsonl
8eeeaecb5f34b804079d6db909eb3e7e186d74b44ffbc394b6f56119bec50982  lv1-lv2-samples/level-2-toolsearcher/ModifyReminder-level-3-1.jsonl
6065eaa7a86475bfa87b820144b1f610ebd7eb74bddc5ad5f0a1d194726d911a  lv1-lv2-samples/level-2-toolsearcher/QueryAlarm-level-3-1.jsonl
6be40b16df01f91cd0b2a16454ce8a7340dceac5d1e86bb5bb1757456d734024  lv1-lv2-samples/level-2-toolsearcher/QueryBalance-level-3-1.jsonl
1d51e21e244e04aadcf0b1303d5e7e339a28949492f77681c4a99e74da49c56c  lv1-lv2-samples/level-2-toolsearcher/QueryBalance-level-3-2.jsonl
6744fdcbe55f53488dfbf9441ecb7d39a6d5fa62d5a846e1832e08ab24835672  lv1-lv2-samples/level-2-toolsearcher/QueryHealthData-level-3-1.jsonl
a6ea8e0717cad626f46b2b3018aa1e83d3abf50b60dd1e2c997008a1388af0b8  lv1-lv2-samples/level-2-toolsearcher/QueryHistoryToday-level-3-2.jsonl
e2fc6f7b339baeeedf69660745aaf20077348eaec0a5ad1d0fc3ba2100745c93  lv1-lv2-samples/level-2-toolsearcher/QueryHistoryToday-level-3-3.jsonl
df66cfcbeeff89f7fb9b084e001fa5b54923d6f99d9e573fb677db8bd908f3ae  lv1-lv2-samples/level-2-toolsearcher/QueryMeeting-level-3-1.jsonl
531363706cc30700561ad71ba41e6abbda7854d51e9de3937c5a3fd64ae59c30  lv1-lv2-samples/level-2-toolsearcher/QueryMeeting-level-3-2.jsonl
ee6b92ca7f0e7c0e1c192cd17d88cf8f8cee9021520cf0b3b2b7c9648795342b  lv1-lv2-samples/level-2-toolsearcher/QueryRegistration-level-3-1.jsonl
751205e44567bb1fb5b53f6fc812ce6bfcede618ca48424e4f9a95cadc2f540b  lv1-lv2-samples/level-2-toolsearcher/QueryRegistration-level-3-2.jsonl
efcbdf89289c5fc1efc8d048f849be0447668f7dc1b1c316884ca861f1ae7a41  lv1-lv2-samples/level-2-toolsearcher/QueryReminder-level-3-1.jsonl
c0ee5be09febfcff5bfffbb8d47478b6056bf1abf297eff5487f2adb9ddc8021  lv1-lv2-samples/level-2-toolsearcher/QueryReminder-level-3-2.jsonl
842442888d07ed0c0cd1ba2344213143171f6b2c51c2f0a63894ad5f918d7237  lv1-lv2-samples/level-2-toolsearcher/QueryReminder-level-3-3.jsonl
0524f1c43e1bff8fd126ee9c81ae1964388bf51ad5b5c1e35ada36762431d03a  lv1-lv2-samples/level-2-toolsearcher/QueryStock-level-3-1.jsonl
4c0a29d2880bbba93bcc45e183dea46896fc6339b4d11f8893a38da319dc7924  lv1-lv2-samples/level-2-toolsearcher/RecordHealthData-level-3-1.jsonl
0bb199c29a1770ff896869c43fa3fc79d0d6b1df241538673f2af8b1c906245c  lv1-lv2-samples/level-2-toolsearcher/RecordHealthData-level-3-2.jsonl
142bd858a319c0422ba2fb02cdc9f7ad76c9bd0ae36f159a5519a9aa89e80c0d  lv1-lv2-samples/level-2-toolsearcher/RecordHealthData-level-3-3.jsonl
2cb26c43e02272e238fa5f2e7d440b1853e6450147ac6ad78098038832da54a8  lv1-lv2-samples/level-2-toolsearcher/SymptomSearch-level-3-1.jsonl
62676f9a4119cc26b5fb31551d3217d291619bd2caf947be23cfc1600e99a8c9  lv1-lv2-samples/level-2-toolsearcher/SymptomSearch-level-3-2.jsonl
30c185ff6364c6895fd14a9f1d53e3c27bc217be78706bd71952a1eacbf1872a  lv1-lv2-samples/level-2-toolsearcher/SymptomSearch-level-3-3.jsonl
59ad179f239f03b6cbcd4e02ccac232cc7d3b819e7a59c02b590cdbfbc7b38c5  lv1-lv2-samples/level-2-toolsearcher/SymptomSearch-level-3-4.jsonl
05da48adea64f26a4650d8f02e2aaa86c19761fe94885168fa6f9245a8cc90e9  lv1-lv2-samples/level-2-toolsearcher/SymptomSearch-level-3-5.jsonl
"""

_LEVELS_1_AND_2 = """
add_agenda add_alarm add_meeting add_reminder add_scene appointment_registration book_hotel calculator
cancel_registration cancel_timed_switch check_token delete_account delete_agenda delete_alarm delete_meeting
delete_reminder delete_scene dictionary document_qa emergency_knowledge forgot_password get_today get_user_token
image_caption modify_agenda modify_alarm modify_meeting modify_password modify_registration modify_reminder
modify_scene open_bank_account play_music query_agenda query_alarm query_balance query_health_data
query_history_today query_meeting query_registration query_reminder query_scene query_stock record_health_data
register_user search_engine send_email speech_recognition symptom_search timed_switch tool_search translate wiki
"""

_LEVEL_3 = """
account_info add_meeting calculator clothing_recommandation email_reminder flight_search geocoding
get_occupation_salary get_weather hotel_availability like_count movie_recommandation nearby_restaurants
organization_members query_meeting tax_calculator tool_search travel_status update_account_info user_posts
user_watched_movies users_movie_preference
"""

_MADE = """
a27ce2f5be74e6597f62083f31f50443b972139e55d5f8ccab28b65bcb78ac33  builtin_tables.json
e7340fd272e86dd8c69590138f4cfd0d949fc274b59415e2a663a40aba987e86  tool_docs.json
d1fae55a2631af264d1fff4904be980c14e2c461c6f9a5bc0e21e52f1ec81637  derived/apis_lv1_lv2.json
9c629e0a4f38cd756c5bcefcfd899bee5c31429341189cdfd37ccec617646c58  derived/apis_lv3.json
"""

PINS = Pins(
    hub_dataset="liminghao1630/API-Bank",
    hub_revision="12e8158b7628c168f07e8f31fbbe3445e99f44cf",
    hub_files={**_hashes(_HUB), **dict.fromkeys(_UNKNOWN)},
    repository="AlibabaResearch/DAMO-ConvAI",
    commit="483554eae102996f5ec1f4feab4e78ef29c2a394",
    archive_files=_hashes(_ARCHIVE),
    classes={"apis": _python_files(_LEVELS_1_AND_2), "lv3_apis": _python_files(_LEVEL_3)},
    made=_hashes(_MADE),
)
