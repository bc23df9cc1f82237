import type { TalkWords } from './talk-words.ts'

export const SLAVIC_WORDS = {
  pl: {
    greeting: `{cześć|dzień dobry|dobry wieczór|dobry|witam|witajcie|hej|hejka|siema|siemka|halo|dzieńdobry}{| wszystkim| państwa| ponownie| serdecznie| zespół
      | panu| pani}|{jak się masz|co słychać|jak leci|jak się pan ma|jak się pani ma}{| dzisiaj| dziś}|szanowni państwo`,
    thanks: `dziękuję|dziękuje|dzięki|dziękujemy|dzięki wielkie|wielkie dzięki|{dziękuję|dziękuje|dzięki} {bardzo|ślicznie|serdecznie|pięknie|z góry|jeszcze raz|mimo
      wszystko|wielkie|ci|panu|pani|państwu}|{bardzo|serdecznie|ślicznie} {dziękuję|dziękuje|dziękujemy}|{to |}{pomogło|pomaga}{| mi}|{bardzo |}{pomocne|przydatne|miło}`,
    goodbye: `do {widzenia|zobaczenia|jutra|usłyszenia|miłego}|na razie|pa|pa pa|papa|{miłego|dobrego|udanego} {dnia|wieczoru|weekendu|popołudnia}|miłego|dobranoc
      |{z poważaniem|pozdrawiam|pozdrowienia|z wyrazami szacunku|serdecznie pozdrawiam}|wzajemnie|nawzajem|żegnam|trzymaj się`,
    yes: 'tak|no tak|jasne|pewnie|tak {proszę|poproszę|chętnie|oczywiście}|chętnie|oczywiście|poproszę|bardzo chętnie|byłoby {miło|dobrze|świetnie}|bardzo proszę',
    acknowledgement: `dobrze|dobra|okej|w porządku|świetnie|super|doskonale|idealnie|wspaniale|fajnie|rozumiem|zrozumiano|zrozumiałem|zrozumiałam|{wszystko|to} {jasne|w porządku
      |ok|zrozumiałe}|zgadza się|dokładnie|racja|nie ma {problemu|sprawy|za co}|nic nie szkodzi|nie szkodzi|proszę|przepraszam|wybacz|sorki|ciekawe|dobrze wiedzieć|aha|ach|ah
      |no dobra|no dobrze|no ok|no to super|test|spróbuję`,
    refusal: `nie|nie {dziękuję|dzięki|trzeba|teraz|potrzebuję|to wszystko|mam więcej pytań|mam pytań|dziękuję to wszystko|jest potrzebne}|to {wszystko|tyle|już wszystko}{| na razie
      | dziękuję}|{nic|niczego}{| więcej| innego}|nic więcej|nie ma potrzeby|jeszcze nie|później|może później|nieważne|zapomnij|raczej nie|na razie {nie|wszystko|tyle}|nie mam więcej pytań`,
    help: `pomocy|pomoc|pomóż{| mi}|{potrzebuję|potrzebuje|szukam} {twojej |państwa |}{pomocy|informacji|porady|wsparcia}|{czy |}{możesz|może|mogą|mógłbyś|mogłabyś|może pan|może pani|ktoś może|ktoś
      mógłby|możecie} {mi |państwo |pan |pani |}{pomóc|państwo pomóc}|{mam|miałbym|miałabym|mamy} {pytanie|jedno pytanie|jeszcze jedno pytanie|kilka pytań|małe pytanie|krótkie pytanie|inne pytanie|pytania
      |problem|prośbę|sprawę}|{jeszcze jedno |}pytanie|{czy |}mogę {o coś |}{zapytać|zadać pytanie|spytać}{| o coś}|{chcę|chciałbym|chciałabym} {o coś |}{zapytać|spytać|się czegoś dowiedzieć}{| o coś}|jak to
      działa|informacje|info`,
    identity: `{czy |}{jesteś|to jest|jest pan|jest pani|czy to} {|prawdziwym |naprawdę |żywym }{botem|robotem|człowiekiem|maszyną|bot|robot|człowiek|chatbot|chatbotem|osobą|ai|prawdziwą osobą|tam|tu|sztuczną
      inteligencją}|{czy |}{rozmawiam|piszę} z {prawdziwym |żywym |}{botem|robotem|człowiekiem|maszyną|osobą|chatbotem|prawdziwą osobą}|kim {jesteś|pan jest|pani jest}|kto {to|tam|to jest}|z kim {rozmawiam|piszę}|{jak
      |jakie} {masz na imię|się nazywasz|jest twoje imię}|{co|w czym} {potrafisz|możesz|umiesz|wiesz} {mi |}{zrobić|pomóc|}{| dla mnie}|jak możesz {mi |}pomóc|o co mogę {zapytać|cię zapytać|pytać}|{czy |}jest {tu|tam} ktoś
      |{czy |}ktoś {tu|tam} jest|jest {tu|tam} {kto|kto ktoś}|halo jest tam kto|{robot czy człowiek|człowiek czy robot|robot|bot}`,
    complaint: `to {jest |}{źle|błąd|nieprawda|błędne|bez sensu|głupie|śmieszne|bzdura|nieprawidłowe}|to nie {jest |}{prawda|to|odpowiedź|pomocne|pomaga|pomogło|to o co pytałem|to o co pytałam|o to pytałem|o to pytałam|odpowiedź
      na moje pytanie|ma sensu}|to {mi |}nie {pomaga|pomogło|pomoże}|nie {odpowiedziałeś|odpowiedziałaś|odpowiadasz|rozumiesz|zrozumiałeś|pomagasz|pomogłeś|słuchasz}{| na moje pytanie| na pytanie| mnie| pytania| mojego pytania}|nie
      {rozumiem|o to pytałem|o to pytałam|o to mi chodzi|o to mi chodziło|pomaga|pomogło}{| nic}|zła odpowiedź|błędna odpowiedź|bez sensu|bezużyteczne|jesteś {bezużyteczny|głupi|głupia}|{głupi|zły} bot|już {pytałem|pytałam|mówiłem
      |mówiłam|próbowałem|próbowałam}{| o to}|dzięki za nic|bzdura|kurwa|cholera|jestem {niezadowolony|niezadowolona|zły|zła|rozczarowany|rozczarowana}|chcę złożyć {skargę|reklamację na obsługę}|{słucham|co|że co}`,
    beside:
      'proszę|więc|teraz|i|a|ale|bardzo|też|naprawdę|dzisiaj|dziś|wszystko|wszystkim|na razie|jeszcze|tu|pan|pani|państwo|no|już|to|dziękuję',
    thanksFor: 'za',
    contact: 'kontakt telefon numer telefonu e-mail obsługa klienta',
  },
  cs: {
    greeting: `{ahoj|dobrý den|dobrý večer|dobré {ráno|odpoledne|dopoledne}|dobrý|zdravím|čau|nazdar|haló|dobrej|hezký den}{| všem| všichni| vespolek| vám| znovu| lidi}
      |{jak se máš|jak se máte|jak se daří|jak to jde}{| dnes}|vážení`,
    thanks: `děkuji|děkuju|díky|dík|děkujeme|{děkuji|děkuju|díky} {moc|mockrát|vám|ti|předem|pěkně|velice|srdečně|ještě jednou|stejně|i tak}{| moc| mockrát}|{moc|mockrát|velmi|velice} {děkuji|děkuju|díky}
      |{to |}{pomohlo|mi pomohlo}{| mi}|{velmi |moc |}{užitečné|milé|nápomocné}`,
    goodbye: `na {shledanou|viděnou|slyšenou}|nashledanou|nashle|sbohem|ahoj|čau|{hezký|pěkný|příjemný|krásný} {den|večer|víkend|zbytek dne}|dobrou noc|měj se{| hezky}|mějte se{| hezky}|{s pozdravem|s
      přátelským pozdravem|zdravím}|nápodobně|i vám|vám také`,
    yes: 'ano|jo|jasně|ano {prosím|rád|ráda|děkuji|určitě}|rád|ráda|určitě|samozřejmě|jistě|to by bylo {skvělé|fajn|dobré|hezké}|prosím ano',
    acknowledgement: `dobře|dobrá|fajn|skvělé|skvěle|výborně|perfektní|perfektně|bezva|paráda|super|rozumím|chápu|jasné|{to je|vše|všechno} {v pořádku|jasné|ok|dobré|fajn|skvělé|super}|v pořádku|souhlasí
      |přesně|přesně tak|správně|to nevadí|nevadí|žádný problém|není zač|nemáte zač|promiňte|promiň|pardon|omlouvám se|zajímavé|dobré vědět|aha|ah|tak jo|tak dobře|tak ok|test|zkusím to|platí`,
    refusal: `ne|ne {děkuji|díky|děkuju|teď|to je {vše|všechno}|není třeba|netřeba|nepotřebuji|už nic|nemám}|to je {vše|všechno}{| děkuji| díky}|{nic|už nic}{| dalšího| víc| jiného}|teď ne|zatím ne|není {třeba
      |potřeba|nutné}|netřeba|nepotřebuji|{nemám |}žádné {další |}{otázky|dotazy}|později|možná později|zapomeň|zapomeňte|raději ne|zatím {vše|všechno}|to stačí`,
    help: `pomoc|pomozte|pomoz mi|pomozte mi|{potřebuji|potřebuju|potřebovala bych|potřeboval bych|hledám} {vaši |trochu |}{pomoc|poradit|informace|informaci|pomoct|radu}|{můžete|můžeš|mohl byste|mohla byste|mohli byste
      |může|mohl bys} mi {prosím |někdo |}{pomoci|pomoct|poradit|někdo pomoci|někdo pomoct}|{mám|měl bych|měla bych|máme} {dotaz|otázku|jeden dotaz|ještě dotaz|ještě jeden dotaz|jednu otázku|ještě jednu otázku|pár otázek|pár
      dotazů|problém|prosbu}|{ještě jeden |}{dotaz|otázka}|{můžu|mohu|smím} se {vás |na něco |}{zeptat|na něco zeptat}{| na něco}|{chci|chtěl bych|chtěla bych} se {na něco |}zeptat{| na něco}|jak to funguje|informace|info`,
    identity: `{jsi|jste|je to|to je|jsi ty} {|opravdu |skutečný |živý |skutečně }{bot|robot|člověk|stroj|chatbot|umělá inteligence|ai|osoba|skutečná osoba|tam|tu|živý člověk}|{mluvím|píšu|komunikuji|bavím se} s {|opravdovým |skutečným
      |živým }{botem|robotem|člověkem|strojem|chatbotem|osobou}|kdo {jsi|jste|je tam|je to|to je}|co {jsi|jste}|s kým {mluvím|píšu|komunikuji}|jak se {jmenuješ|jmenujete}|{co|s čím} {umíš|umíte|můžeš|můžete|dokážeš|víš} {mi |}{dělat
      |udělat|pomoci|pomoct|poradit|}{| pro mě}|jak mi {můžeš|můžete} {pomoci|pomoct}|na co se {můžu|mohu} {ptát|zeptat}|je {tam|tu|zde} někdo|{haló |}{je |}někdo {tam|tu}|{robot nebo člověk|člověk nebo robot|robot|bot}`,
    complaint: `to {je |}{špatně|chyba|nesmysl|k ničemu|hloupost|blbost|směšné|nepravda}|to není {pravda|správně|odpověď|užitečné|to na co jsem se ptal|to na co jsem se ptala|odpověď na moji otázku|ono}|to {mi |}{nepomohlo|nepomáhá|nedává smysl
      |nesouhlasí}|špatně|špatná odpověď|{neodpověděl|neodpověděla|neodpovídáš|neodpovídáte|neodpověděli|nerozumíš|nerozumíte|nepomohl|neposloucháš}{| jste| jsi}{| mi}{| na otázku| na moji otázku| na mou otázku}|nerozumím{| tomu|
      ničemu}|nechápu{| to}|jsi {k ničemu|hloupý|blbý}|{hloupý|blbý|špatný} {bot|robot}|na to {už |}jsem se {už |}{ptal|ptala}|to už jsem {řekl|řekla|zkoušel|zkoušela}|díky za nic|nesmysl|sakra|jsem {nespokojený|nespokojená|naštvaný
      |naštvaná|zklamaný|zklamaná}|chci si stěžovat|co|cože`,
    beside:
      'prosím|tedy|tak|teď|a|ale|moc|velmi|také|opravdu|dnes|vše|všem|zatím|ještě|tu|no|už|to|pane|paní|děkuji',
    thanksFor: 'za',
    contact: 'kontakt telefon telefonní číslo e-mail zákaznický servis',
  },
  ru: {
    greeting: `{здравствуйте|здравствуй|привет|приветствую|добрый {день|вечер}|доброе утро|доброго {дня|времени суток|вечера|утра}|здрасте|приветик|алло|доброй ночи|хай}{| всем| вам| снова| еще раз| команда
      | друзья}|{как дела|как ты|как вы|как поживаете|как поживаешь|как жизнь}{| сегодня}|уважаемые {господа|коллеги}`,
    thanks: `спасибо|спс|спасибочки|благодарю{| вас| тебя}|{спасибо|благодарю} {большое|огромное|вам|тебе|вам большое|заранее|еще раз|за все|и на этом|всем|не надо}|{большое|огромное} спасибо|{очень |}{помогло|полезно
      |признателен|признательна|благодарен|благодарна|любезно}|{это |}{мне |}помогло|вы {мне |}{очень |}помогли`,
    goodbye: `до {свидания|встречи|завтра|скорого}|пока|пока пока|всего {доброго|хорошего|наилучшего}|{хорошего|приятного|доброго|удачного} {дня|вечера|вам дня}|хороших выходных|спокойной ночи|прощайте|удачи|{с
      уважением|с наилучшими пожеланиями}|и вам|взаимно|вам также|вам тоже`,
    yes: 'да|ага|угу|да {пожалуйста|конечно|хочу|спасибо|давайте}|конечно|разумеется|давайте|давай|с удовольствием|было бы {хорошо|здорово|отлично}',
    acknowledgement: `хорошо|ладно|ок|окей|оке|отлично|прекрасно|супер|замечательно|здорово|класс|круто|великолепно|идеально|понял|поняла|понятно|ясно|все {понятно|ясно|хорошо|отлично|в порядке|ок}|{это |}{хорошо|верно
      |правильно|точно}|согласен|согласна|договорились|именно|точно|верно|не {проблема|страшно|беда|за что}|ничего страшного|ничего|без проблем|пожалуйста|извините|извини|простите|прости|интересно|буду знать|ну ок|ну ладно|а
      |ах|о|хм|тест|проверка|попробую|принято`,
    refusal: `нет|не|неа|нет {спасибо|не надо|не нужно|это все|больше нет|пока нет|благодарю|вопросов нет|больше ничего}|не {надо|нужно|сейчас|стоит|требуется|интересует|интересно}|это {все|было все}|{на этом|пока|вот и} все|все
      {спасибо}|{больше |}ничего{| больше| не надо| не нужно}|{больше |}вопросов {больше |}нет|потом|позже|может {быть |}позже|пока нет|пока не надо|забудьте|забудь|неважно`,
    help: `помощь|помогите|помоги{| мне}|помогите {мне |}{пожалуйста|}|{мне |}{нужна|нужен|требуется|нужно} {ваша |твоя |}{помощь|консультация|информация|совет|помочь}|{вы |ты |}{можете|можешь|могли бы|мог бы|сможете|не могли бы} {вы |ты |}
      {мне |}помочь{| мне}|{кто нибудь|кто то} может {мне |}помочь|{у меня |у нас |}{есть |возник |}{вопрос|вопросы|один вопрос|еще вопрос|еще один вопрос|пара вопросов|несколько вопросов|другой вопрос|проблема|просьба}|{можно|могу|могу ли я|можно ли}
      {я |вас |тебя |вам |у вас |}{спросить|задать вопрос|кое что спросить|узнать}{| вопрос| кое что}|{хочу|хотел бы|хотела бы|хотелось бы} {кое что |}{спросить|узнать|задать вопрос|уточнить}{| кое что}|как это работает|информация|инфо`,
    identity: `{вы|ты|это} {настоящий |живой |реальный |точно |правда |}{бот|робот|человек|машина|ии|чат бот|чатбот|здесь|тут|там|нейросеть|настоящий|человек или бот|человек или робот|бот или человек|робот или человек|искусственный интеллект}|{я |}{говорю
      |разговариваю|общаюсь|пишу} {я |}с {настоящим |живым |реальным |}{ботом|роботом|человеком|машиной|чат ботом}|кто {вы|ты|это|здесь|там|вы такой|ты такой|вы такие}|{а |}{вы|ты} кто|с кем я {говорю|разговариваю|общаюсь}|с кем {говорю|разговариваю
      |общаюсь}|как {вас|тебя} зовут|что {вы|ты} {умеете|умеешь|можете|можешь|знаете|знаешь|умеете делать|умеешь делать|можете делать}|{чем|как} {вы |ты |}{можете|можешь} {мне |}помочь|{о чем|что} {можно|я могу} {вас |тебя |у вас |}{спросить|спрашивать}
      |{есть|здесь|тут} {кто нибудь|кто|есть кто|кто то}{| здесь| тут| живой}|кто нибудь{| здесь| есть| тут}|{бот или человек|человек или бот|робот или человек|человек или робот|бот|робот}`,
    complaint: `это {неправильно|неверно|не так|не то|неправда|ошибка|бред|чушь|глупо|бесполезно|ерунда|не ответ|не помогает|не помогло|не правда|не то что я спрашивал|не то что я спросил|не то что мне нужно|не ответ на мой вопрос|мне не помогло|мне не помогает}
      |неправильно|неверно|не {то|так|помогло|помогает|правильно|верно}|неправильный ответ|{вы|ты} {мне |}{не|меня не} {ответили|ответил|отвечаете|отвечаешь|понимаете|понимаешь|поняли|понял|помогли|помогаете|слушаете}{| на мой вопрос| на вопрос| меня| мой
      вопрос}|{я |}не {понимаю|понял|поняла|понятно}{| ничего}|ничего не понятно|{вы|ты} {бесполезен|бесполезный|тупой|глупый|тупая}|{тупой|глупый|бесполезный|плохой} {бот|робот}|я уже {спрашивал|спрашивала|говорил|говорила|пробовал|пробовала}{| это| об этом
      }|вы уже {это |}говорили|спасибо за ничего|бред|чушь|черт|блин|я {недоволен|недовольна|зол|разочарован|разочарована}|{хочу|я хочу} пожаловаться|что|чего`,
    beside:
      'пожалуйста|тогда|сейчас|теперь|так|и|а|но|очень|тоже|правда|сегодня|все|всем|пока|еще|здесь|ну|уже|это|вам|вас|большое|вот',
    thanksFor: 'за',
    contact: 'контакты телефон номер телефона электронная почта служба поддержки',
  },
  uk: {
    greeting: `{вітаю|привіт|добрий {день|вечір}|доброго {дня|ранку|вечора}|добрий ранок|здрастуйте|добридень|вітання|алло}{| всім| вам| знову| ще раз}|{як справи|як ви|як ти|як поживаєте}{| сьогодні}`,
    thanks: `дякую|дякуємо|спасибі|{дякую|спасибі} {дуже|щиро|вам|тобі|велике|заздалегідь|ще раз|за все}|{дуже|щиро} дякую|велике спасибі|{це |}{мені |}допомогло|{дуже |}{корисно|вдячний|вдячна}`,
    goodbye: `до {побачення|зустрічі|завтра}|бувайте|бувай|на все добре|всього {доброго|найкращого}|{гарного|приємного|чудового} {дня|вечора|вечіра}|гарних вихідних|добраніч|з повагою|навзаєм|вам також|папа|па па`,
    yes: 'так|ага|так {будь ласка|звичайно|звісно|хочу|дякую}|звичайно|звісно|авжеж|давайте|із задоволенням|з радістю|було б {добре|чудово}',
    acknowledgement: `добре|гаразд|ок|окей|чудово|супер|відмінно|прекрасно|класно|круто|зрозуміло|зрозумів|зрозуміла|ясно|все {зрозуміло|ясно|добре|гаразд}|домовились|згоден|згодна|саме так|точно|вірно|правильно|не проблема|нічого
      страшного|нема за що|без проблем|прошу|будь ласка|вибачте|вибач|перепрошую|цікаво|буду знати|тест|спробую`,
    refusal: `ні|ні {дякую|не треба|не потрібно|це все|більше нічого|поки ні}|не {треба|потрібно|зараз}|{це|на цьому|поки} все|все дякую|{більше |}нічого{| більше| не треба}|{більше |}питань {більше |}{немає|нема}|потім|пізніше|можливо пізніше
      |поки ні|забудьте|неважливо`,
    help: `допомога|допоможіть|допоможи{| мені}|допоможіть мені|{мені |}{потрібна|потрібно} {ваша |}{допомога|консультація|інформація|порада}|{ви |ти |чи |}{можете|можеш|могли б|зможете} {ви |}{мені |}допомогти{| мені}|{у мене |в мене |маю |}{є |}
      {питання|запитання|одне питання|ще питання|ще одне питання|кілька питань|проблема|проблему}|{можна|можу|чи можу} {я |вас |}{запитати|спитати|поставити питання}{| дещо}|{хочу|хотів би|хотіла б} {дещо |}{запитати|спитати|дізнатися}{| дещо}|як це працює
      |інформація|інфо`,
    identity: `{чи |}{ви|ти|це} {справжній |справжня |живий |жива |реальна |}{бот|робот|людина|машина|ші|чат бот|чатбот|тут|там|людина чи бот|людина чи робот|бот чи людина|робот чи людина|штучний інтелект}|{чи |}{я |}{говорю|розмовляю|спілкуюся} {я |}{з|із} {справжньою |
      живою |}{ботом|роботом|людиною|машиною|чат ботом}|хто {ви|ти|це|там|ви такий|ти такий}|{з ким|із ким} {я |}{говорю|розмовляю|спілкуюся}|як {вас|тебе} {звати|звуть}|що {ви|ти} {вмієте|вмієш|можете|можеш|знаєте|знаєш}{| робити}|{чим|як} {ви |ти |}{можете|можеш}
      {мені |}допомогти|{про що|що} {можна|я можу} {вас |}{запитати|питати}|{є|тут} {хто небудь|хтось|хто|є хто}{| тут| живий}|{бот чи людина|людина чи бот|робот чи людина|бот|робот}`,
    complaint: `це {неправильно|не так|не те|неправда|помилка|дурниця|нісенітниця|не відповідь|не допомагає|не допомогло|мені не допомогло|не те що я питав|не те що я питала|марно}|неправильно|не {те|так|допомогло|допомагає|правильно}|неправильна відповідь|{ви|ти} {мені
      |мене |}не {відповіли|відповів|відповідаєте|розумієте|розумієш|зрозуміли|допомогли}{| на моє питання| на питання| мене}|{я |}не {розумію|зрозумів|зрозуміла|зрозуміло}{| нічого}|{тупий|дурний|поганий} {бот|робот}|я вже {питав|питала|казав|казала}{| це| про це}|дякую ні за
      що|чорт|я {незадоволений|незадоволена|розчарований|розчарована}|хочу поскаржитися|що`,
    beside:
      'будь ласка|тоді|зараз|тепер|так|і|й|а|але|дуже|теж|також|справді|сьогодні|все|всім|поки|ще|тут|ну|вже|це|вам|вас',
    thanksFor: 'за',
    contact: 'контакти телефон номер телефону електронна пошта служба підтримки',
  },
} satisfies Record<string, TalkWords>
