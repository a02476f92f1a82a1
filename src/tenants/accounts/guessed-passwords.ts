// Words and phrases that people choose when twelve characters are required, without leading and trailing digits and
// signs and without spaces: what attackers try first. Short on purpose, since throttling does the rest.
const WORDS = `
password passwort passw0rd passwords passwordpassword mypassword newpassword yourpassword thepassword
passwordistoolong passwordpasswordpassword onepassword temppassword testpassword defaultpassword changeme
changemenow changeit changethis pleasechange pleasechangeme letmein letmeinnow letmeinplease opensesame
welcome welcomeback welcometo welcomehome admin administrator adminadmin adminpassword adminadminadmin
superadmin superuser rootroot rootpassword toor user username useruser usernamepassword guest guestguest
login loginlogin loginpassword secret secretsecret topsecret mysecret secretpassword supersecret
supersecretpassword qwerty qwertyqwerty qwertyuiop qwertypassword qwertzuiop azertyuiop asdfghjkl zxcvbnm
qazwsxedcrfv qazwsxedc qazwsx iloveyou iloveyousomuch ilovemyself ilovejesus iloveyouforever iloveme loveyou
loveme forever always sunshine sunshinesunshine princess princessprincess dragon dragondragon monkey
monkeymonkey football footballfootball baseball basketball superman batman spiderman starwars pokemon
whatever whateverwhatever trustno trustnoone trustme nothing nothingnothing blink letmeinagain hello
hellohello helloworld hellothere hellokitty master mastermaster masterpassword shadow michael jennifer
jordan computer computercomputer internet internetinternet freedom liverpool chelsea arsenal manchesterunited
realmadrid barcelona fcbarcelona juventus summer winter spring autumn summersummer monday january december
company companyname corporate business office mail email emailpassword mailpassword postmaster postrider
postriderpostrider sandbox test testtest testtesttest testing testingtesting tester example demo demodemo
correcthorsebatterystaple correcthorse batterystaple thequickbrownfox lorem loremipsum abcdefg abcdefghijkl
aaaaaa unknown default server database production staging developer development
`;

export const GUESSED_PASSWORDS: ReadonlySet<string> = new Set(WORDS.trim().split(/\s+/));
