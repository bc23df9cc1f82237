import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TalkKind } from './compile-phrases.ts'
import { readMessage } from './read-message.ts'
import { TALK_WORDS } from './talk-table.ts'
import type { TalkLanguage } from './talk-words.ts'

/** Messages by language and kind, separated by slashes. */
const TALK: Record<TalkLanguage, Record<TalkKind, string>> = {
  en: {
    greeting: `Hello / hi there! / Hey / heyyy / Good morning / Hello, how are you? / Hi, good afternoon everyone / hellooo / Dear team`,
    thanks: `thanks / Thank you so much! / ok thanks / great, thanks a lot / thanks for the info / Thank you for your quick reply / thx / cheers mate / that was very helpful`,
    goodbye: `bye / Goodbye! / ok bye / thanks, bye / see you later / have a nice day`,
    yes: `yes / Yes please / yeah sure / of course`,
    acknowledgement: `ok / okay then / great / Perfect! / super / got it / alright / I see / no problem / sounds good / ok, cool / sorry, wrong chat / haha`,
    refusal: `no / No thanks / nope / not now / that's all / that's all, thank you / no that's it / nothing else / I'm good thanks / no, I'm fine / never mind`,
    help: `help / Help me please / I have a question / Can you help me? / could you please help me / Hi, I have a quick question / can I ask you something? / I need some help / I need information`,
    identity: `Are you a bot? / are you human / Am I talking to a real person? / Who are you? / What can you do? / what's your name? / hello? is anyone there? / how can you help me / is this a bot`,
    complaint: `That's wrong / this doesn't help / That was not helpful / You didn't answer my question / not what I asked / wrong answer / no, that is not what I meant / useless bot / you don't understand me / I already told you that / I don't understand / thanks for nothing`,
  },
  de: {
    greeting: `Guten Tag / Hallo zusammen / Moin / Servus / grüß Gott / hallo, wie geht's? / Schönen guten Abend / Sehr geehrte Damen und Herren`,
    thanks: `Danke / Vielen Dank! / ok danke / Danke für die Hilfe / Danke für die schnelle Antwort / super, danke / alles klar danke / herzlichen Dank / das hilft mir weiter`,
    goodbye: `Tschüss / auf Wiedersehen / Schönen Tag noch / bis bald / danke, tschüss / Mit freundlichen Grüßen`,
    yes: `ja / Ja bitte / ja gerne / na klar / sehr gerne`,
    acknowledgement: `alles klar / gut / prima / Perfekt / verstehe / in Ordnung / passt / kein Problem / ach so / okay, verstanden / das ist gut`,
    refusal: `nein / Nein danke / nö / nicht nötig / das war's / das ist alles, danke / nein, das war alles / später / hat sich erledigt / keine weiteren Fragen`,
    help: `Hilfe / Ich habe eine Frage / Können Sie mir helfen? / hallo, ich hätte mal eine Frage / kannst du mir bitte helfen / Darf ich Sie etwas fragen? / ich brauche Hilfe / noch eine Frage / Ich hab da mal ne Frage`,
    identity: `Bist du ein Bot? / Sind Sie ein Mensch? / Spreche ich mit einem Roboter? / wer bist du / Was kannst du? / wie heißt du? / ist da jemand? / Hallo, ist hier jemand?`,
    complaint: `Das ist falsch / Das hilft mir nicht / das stimmt nicht / Sie haben meine Frage nicht beantwortet / falsche Antwort / du verstehst mich nicht / nein, das ist nicht was ich meine / so ein Quatsch / das habe ich schon gefragt / verstehe ich nicht`,
  },
  fr: {
    greeting: `Bonjour / Bonsoir / Salut ! / Bonjour, comment ça va ? / Coucou / Bonjour à tous / rebonjour`,
    thanks: `Merci / merci beaucoup / ok merci / Merci pour votre aide / Je vous remercie / merci bien, c'est gentil / un grand merci`,
    goodbye: `Au revoir / bonne journée / à bientôt / merci, au revoir / bonne soirée / Cordialement`,
    yes: `oui / Oui, s'il vous plaît / volontiers / bien sûr / avec plaisir`,
    acknowledgement: `d'accord / parfait / très bien / je comprends / ça marche / c'est noté / pas de problème / génial / ah d'accord`,
    refusal: `non / Non merci / ça ira / c'est tout / rien d'autre, merci / pas maintenant / plus tard / non, c'est tout`,
    help: `aide / J'ai une question / Pouvez-vous m'aider ? / bonjour, j'ai besoin d'aide / je peux vous poser une question / j'aurais une petite question / aidez-moi`,
    identity: `Êtes-vous un robot ? / es-tu humain / qui êtes-vous ? / je parle à un robot ? / que pouvez-vous faire ? / comment tu t'appelles / il y a quelqu'un ?`,
    complaint: `C'est faux / ça ne m'aide pas / ce n'est pas ce que j'ai demandé / vous n'avez pas répondu à ma question / mauvaise réponse / vous ne me comprenez pas / inutile / je ne comprends pas`,
  },
  es: {
    greeting: `Hola / Buenos días / hola, buenas tardes / buenas / ¿Qué tal? / hola, cómo estás / Buenas noches`,
    thanks: `Gracias / muchas gracias / vale gracias / Gracias por la información / perfecto, gracias / mil gracias / muy amable`,
    goodbye: `Adiós / hasta luego / hasta pronto / que tenga un buen día / gracias, adiós / chao`,
    yes: `sí / Sí, por favor / claro / por supuesto / claro que sí`,
    acknowledgement: `vale / de acuerdo / perfecto / entendido / genial / muy bien / está bien / no hay problema / ya veo`,
    refusal: `No gracias / no, gracias / eso es todo / nada más / ahora no / no hace falta / no, eso es todo, gracias / más tarde`,
    help: `ayuda / Tengo una pregunta / ¿Me puede ayudar? / hola, necesito ayuda / puedes ayudarme / ¿puedo hacerle una pregunta? / tengo una duda`,
    identity: `¿Eres un robot? / eres humano / ¿Quién eres? / ¿estoy hablando con una persona? / ¿Qué puedes hacer? / cómo te llamas / ¿hay alguien ahí?`,
    complaint: `Eso está mal / no me ayuda / eso no es lo que pregunté / no has respondido a mi pregunta / respuesta equivocada / no me entiendes / inútil / no entiendo nada`,
  },
  it: {
    greeting: `Ciao / Buongiorno / buonasera / Salve / ciao, come stai? / Buongiorno a tutti`,
    thanks: `Grazie / grazie mille / ok grazie / Grazie per l'aiuto / la ringrazio / molto gentile, grazie / perfetto grazie`,
    goodbye: `Arrivederci / buona giornata / a presto / grazie, arrivederci / buona serata / cordiali saluti`,
    yes: `sì per favore / certo / volentieri`,
    acknowledgement: `va bene / d'accordo / perfetto / ho capito / ottimo / tutto chiaro / nessun problema / benissimo`,
    refusal: `No grazie / no, grazie / è tutto / nient'altro / non ora / basta così / a posto così / più tardi`,
    help: `aiuto / Ho una domanda / Mi può aiutare? / ciao, ho bisogno di aiuto / puoi aiutarmi / posso fare una domanda? / avrei una domanda`,
    identity: `Sei un robot? / sei umano / Chi sei? / sto parlando con una persona? / Cosa puoi fare? / come ti chiami / c'è qualcuno?`,
    complaint: `È sbagliato / non mi aiuta / non è quello che ho chiesto / non hai risposto alla mia domanda / risposta sbagliata / non capisci / inutile / non ho capito`,
  },
  pt: {
    greeting: `Olá / Oi / Bom dia / boa tarde / oi, tudo bem? / Olá, bom dia a todos`,
    thanks: `Obrigado / obrigada / muito obrigado / ok obrigado / Obrigado pela ajuda / valeu / muito obrigada pela informação`,
    goodbye: `Tchau / adeus / até logo / tenha um bom dia / obrigado, tchau / até breve`,
    yes: `sim / Sim, por favor / com certeza / pode ser / claro que sim`,
    acknowledgement: `tudo bem, entendi / está bem / certo / ótimo / entendi / beleza / sem problema / combinado`,
    refusal: `não / Não, obrigado / é só isso / mais nada / agora não / não precisa / nada mais, obrigada / mais tarde`,
    help: `ajuda / Tenho uma pergunta / Pode me ajudar? / oi, preciso de ajuda / você pode me ajudar / posso fazer uma pergunta? / tenho uma dúvida`,
    identity: `Você é um robô? / é humano / Quem é você? / estou falando com uma pessoa? / O que você pode fazer? / qual é o seu nome / tem alguém aí?`,
    complaint: `Isso está errado / não ajudou / não é o que eu perguntei / você não respondeu a minha pergunta / resposta errada / você não me entendeu / inútil / não entendi`,
  },
  nl: {
    greeting: `Goedemorgen / Hoi / goedendag / Hallo, hoe gaat het? / Goedenavond / hoi hoi / Beste team`,
    thanks: `Bedankt / dank je wel / oké bedankt / Bedankt voor de hulp / hartelijk dank / dankjewel / alvast bedankt`,
    goodbye: `Tot ziens / doei / fijne dag / prettige avond / bedankt, doei / Met vriendelijke groet`,
    yes: `ja graag / jazeker / Ja, alstublieft / ja hoor`,
    acknowledgement: `oké / prima / is goed / duidelijk / ik begrijp het / geen probleem / begrepen / heel goed`,
    refusal: `nee / Nee bedankt / nee dank je / dat was het / niets meer / niet nodig / hoeft niet / laat maar / nee, dat is alles`,
    help: `Ik heb een vraag / Kunt u mij helpen? / hallo, ik heb hulp nodig / kun je me even helpen / mag ik iets vragen / nog een vraag`,
    identity: `Ben je een robot? / bent u een mens / Wie ben je? / praat ik met een robot / Wat kun je? / hoe heet je / is er iemand?`,
    complaint: `Dat klopt niet / dit helpt niet / dat is niet wat ik vroeg / je beantwoordt mijn vraag niet / fout antwoord / je begrijpt me niet / dat is fout / ik begrijp het niet`,
  },
  sv: {
    greeting: `Hej / Hejsan / God morgon / hej, hur mår du? / Tjena / hej hej`,
    thanks: `Tack / tack så mycket / okej tack / Tack för hjälpen / stort tack / tusen tack`,
    goodbye: `Hej då / vi hörs / ha en bra dag / tack, hej då / Med vänliga hälsningar`,
    yes: `ja / gärna / absolut / ja gärna`,
    acknowledgement: `okej / jag förstår / toppen / bra / inga problem / perfekt`,
    refusal: `nej / Nej tack / det var allt / inget mer / inte nu / det behövs inte / nej, det var allt`,
    help: `hjälp / Jag har en fråga / Kan du hjälpa mig? / hej, jag behöver hjälp / kan jag fråga en sak`,
    identity: `Är du en robot? / är du människa / Vem är du? / pratar jag med en robot / Vad kan du göra? / vad heter du / är någon där?`,
    complaint: `Det är fel / det hjälper inte / du svarade inte på min fråga / fel svar / du förstår inte / det stämmer inte / jag förstår inte`,
  },
  da: {
    greeting: `Goddag / Hejsa / god morgen / hej, hvordan går det? / hej med dig / halløj`,
    thanks: `Mange tak / tusind tak / okay tak / Tak for hjælpen / tak skal du have`,
    goodbye: `Farvel / vi ses / hav en god dag / tak, farvel / Med venlig hilsen`,
    yes: `ja gerne / jep / selvfølgelig / meget gerne`,
    acknowledgement: `okay / jeg forstår / fint / godt / det er i orden / intet problem / perfekt`,
    refusal: `nej / Nej tak / det var det hele / ikke mere / ikke nu / ellers tak / nej, det var alt`,
    help: `hjælp / Jeg har et spørgsmål / Kan du hjælpe mig? / hej, jeg har brug for hjælp / må jeg spørge om noget`,
    identity: `Er du en robot? / er du et menneske / Hvem er du? / taler jeg med en robot / Hvad kan du? / hvad hedder du / er der nogen?`,
    complaint: `Det er forkert / det hjælper ikke / du svarede ikke på mit spørgsmål / forkert svar / du forstår ikke / det passer ikke / jeg forstår det ikke`,
  },
  no: {
    greeting: `Heisann / god morgen / hei, hvordan går det? / hei på deg / God dag`,
    thanks: `Takk / tusen takk / okei takk / Takk for hjelpen / mange takk`,
    goodbye: `Ha det / ha det bra / snakkes / ha en fin dag / takk, ha det / Med vennlig hilsen`,
    yes: `ja gjerne / jepp / selvfølgelig / veldig gjerne`,
    acknowledgement: `okei / jeg skjønner / greit / flott / den er grei / ingen problem / supert`,
    refusal: `nei / Nei takk / det var alt / ikke noe mer / ikke nå / nei, det var det`,
    help: `hjelp / Jeg har et spørsmål / Kan du hjelpe meg? / hei, jeg trenger hjelp / kan jeg spørre om noe`,
    identity: `Er du en robot? / er du et menneske / Hvem er du? / snakker jeg med en robot / Hva kan du? / hva heter du / er det noen der?`,
    complaint: `Det er feil / det hjelper ikke / du svarte ikke på spørsmålet mitt / feil svar / du forstår ikke / det stemmer ikke / jeg skjønner ikke`,
  },
  fi: {
    greeting: `Moi / Terve / hyvää päivää / hei, mitä kuuluu? / huomenta / moikka`,
    thanks: `Kiitos / kiitos paljon / ok kiitos / Kiitos avusta / paljon kiitoksia`,
    goodbye: `Näkemiin / hyvää päivänjatkoa / kiitos, näkemiin / nähdään / hyvää viikonloppua`,
    yes: `kyllä / Kyllä kiitos / joo / mielellään / totta kai`,
    acknowledgement: `selvä / hienoa / ymmärrän / ok, selvä / ei hätää / hyvä / mahtavaa`,
    refusal: `ei / Ei kiitos / siinä kaikki / ei muuta / ei nyt / ei kiitos, siinä kaikki`,
    help: `apua / Minulla on kysymys / Voitko auttaa minua? / hei, tarvitsen apua / voinko kysyä jotain`,
    identity: `Oletko robotti? / oletko ihminen / Kuka olet? / puhunko ihmisen kanssa / Mitä osaat? / mikä nimesi on / onko siellä ketään?`,
    complaint: `Se on väärin / se ei auta / et vastannut kysymykseeni / väärä vastaus / et ymmärrä / ei pidä paikkaansa / en ymmärrä`,
  },
  pl: {
    greeting: `Cześć / Dzień dobry / dobry wieczór / Witam / cześć, jak się masz?`,
    thanks: `Dziękuję / dzięki / dziękuję bardzo / ok dzięki / Dziękuję za pomoc / bardzo dziękuję`,
    goodbye: `Do widzenia / na razie / miłego dnia / dziękuję, do widzenia / Z poważaniem`,
    yes: `jasne / Tak, poproszę / chętnie / oczywiście`,
    acknowledgement: `dobrze / w porządku / rozumiem / świetnie / super / nie ma problemu / zgadza się`,
    refusal: `nie / Nie, dziękuję / to wszystko / nic więcej / nie teraz / nie trzeba / nie, to wszystko`,
    help: `pomocy / Mam pytanie / Czy możesz mi pomóc? / dzień dobry, potrzebuję pomocy / mogę o coś zapytać`,
    identity: `Czy jesteś robotem? / jesteś człowiekiem / Kim jesteś? / czy rozmawiam z botem / Co potrafisz? / jak masz na imię / jest tam ktoś?`,
    complaint: `To nieprawda / to nie pomaga / nie odpowiedziałeś na moje pytanie / zła odpowiedź / nie rozumiesz / to jest źle / nie rozumiem`,
  },
  cs: {
    greeting: `Ahoj / Dobrý den / dobrý večer / ahoj, jak se máš? / dobré ráno / Zdravím`,
    thanks: `Děkuji / díky / moc děkuji / ok díky / Děkuji za pomoc / děkuju moc`,
    goodbye: `Na shledanou / děkuji, na shledanou / mějte se / S pozdravem`,
    yes: `ano / Ano, prosím / jasně / určitě / rád`,
    acknowledgement: `dobře / rozumím / výborně / v pořádku / skvělé / nevadí / tak jo`,
    refusal: `ne / Ne, děkuji / to je vše / nic / teď ne / není třeba / ne, to je všechno`,
    help: `pomoc / Mám dotaz / Můžete mi pomoci? / dobrý den, potřebuji poradit / mohu se zeptat`,
    identity: `Jsi robot? / jste člověk / Kdo jsi? / mluvím s robotem / Co umíš? / jak se jmenuješ / je tam někdo?`,
    complaint: `To není pravda / to nepomohlo / neodpověděl jste na otázku / špatná odpověď / nerozumíš / to je špatně / nerozumím`,
  },
  ru: {
    greeting: `Здравствуйте / Привет / добрый день / привет, как дела? / доброе утро`,
    thanks: `Спасибо / спасибо большое / ок спасибо / Спасибо за помощь / благодарю вас / большое спасибо`,
    goodbye: `До свидания / пока / хорошего дня / спасибо, до свидания / всего доброго`,
    yes: `да / Да, пожалуйста / конечно / давайте`,
    acknowledgement: `хорошо / понятно / отлично / ясно / ладно / ничего страшного / всё понятно`,
    refusal: `нет / Нет, спасибо / это всё / больше ничего / не сейчас / не надо / нет, это всё`,
    help: `помогите / У меня вопрос / Вы можете мне помочь? / здравствуйте, нужна помощь / можно задать вопрос`,
    identity: `Вы бот? / ты человек / Кто вы? / я говорю с роботом / Что вы умеете? / как вас зовут / есть кто-нибудь?`,
    complaint: `Это неправильно / это не помогло / вы не ответили на мой вопрос / неправильный ответ / вы меня не понимаете / не то / я не понимаю`,
  },
  uk: {
    greeting: `Вітаю / Привіт / добрий день / привіт, як справи? / Доброго ранку`,
    thanks: `Дякую / дуже дякую / ок дякую / Дякую за допомогу / щиро дякую`,
    goodbye: `До побачення / гарного дня / дякую, до побачення / на все добре`,
    yes: `так / Так, будь ласка / звичайно / авжеж`,
    acknowledgement: `добре / зрозуміло / чудово / гаразд / домовились`,
    refusal: `ні / Ні, дякую / це все / більше нічого / не треба / ні, це все`,
    help: `допоможіть / У мене питання / Ви можете мені допомогти? / вітаю, потрібна допомога / можна запитати`,
    identity: `Ви бот? / ти людина / Хто ви? / я розмовляю з роботом / Що ви вмієте? / як вас звати`,
    complaint: `Це неправильно / це не допомогло / ви не відповіли на моє питання / неправильна відповідь / не те / я не розумію`,
  },
  tr: {
    greeting: `Merhaba / Selam / günaydın / merhaba, nasılsınız? / iyi akşamlar`,
    thanks: `Teşekkürler / teşekkür ederim / tamam teşekkürler / Yardımınız için teşekkürler / çok sağ olun`,
    goodbye: `Hoşça kalın / görüşürüz / teşekkürler, hoşça kal / kendinize iyi bakın`,
    yes: `evet / Evet lütfen / tabii / olur / elbette`,
    acknowledgement: `tamam / anladım / harika / peki / çok güzel / sorun değil / süper`,
    refusal: `hayır / Hayır teşekkürler / bu kadar / gerek yok / şimdi değil / başka sorum yok`,
    help: `yardım / Bir sorum var / Bana yardım edebilir misiniz? / merhaba, yardıma ihtiyacım var / bir şey sorabilir miyim`,
    identity: `Robot musun? / siz insan mısınız / Kimsiniz? / bir insanla mı konuşuyorum / Neler yapabilirsin? / adınız ne / kimse var mı?`,
    complaint: `Bu yanlış / işe yaramadı / sorumu yanıtlamadınız / yanlış cevap / beni anlamıyorsun / bu doğru değil / anlamadım`,
  },
  ar: {
    greeting: `مرحبا / السلام عليكم / صباح الخير / مرحبا، كيف حالك؟ / أهلاً`,
    thanks: `شكرا / شكراً جزيلاً / حسنا شكرا / شكرا على المساعدة / مشكور`,
    goodbye: `مع السلامة / إلى اللقاء / شكرا، مع السلامة / وداعا`,
    yes: `نعم / نعم من فضلك / بالتأكيد / أكيد`,
    acknowledgement: `حسنا / تمام / ممتاز / فهمت / واضح / طيب`,
    refusal: `لا / لا شكرا / هذا كل شيء / ليس الآن / لا أريد`,
    help: `مساعدة / لدي سؤال / هل يمكنك مساعدتي؟ / مرحبا، أحتاج مساعدة / ممكن سؤال`,
    identity: `هل أنت روبوت؟ / هل أنت إنسان / من أنت؟ / ماذا تستطيع أن تفعل؟ / ما اسمك / هل يوجد أحد هنا؟`,
    complaint: `هذا خطأ / هذا لا يساعدني / لم تجب على سؤالي / إجابة خاطئة / أنت لا تفهم / لا أفهم`,
  },
  hi: {
    greeting: `नमस्ते / नमस्कार जी / नमस्ते, आप कैसे हैं? / हैलो`,
    thanks: `धन्यवाद / बहुत धन्यवाद / शुक्रिया / ठीक है धन्यवाद / मदद के लिए धन्यवाद`,
    goodbye: `अलविदा / फिर मिलेंगे / धन्यवाद, अलविदा`,
    yes: `हाँ / हाँ जी / ज़रूर / जी हाँ`,
    acknowledgement: `ठीक है / अच्छा / समझ गया / बढ़िया / कोई बात नहीं`,
    refusal: `नहीं / नहीं, धन्यवाद / अभी नहीं / बस इतना ही / और कुछ नहीं`,
    help: `मदद / मेरा एक सवाल है / क्या आप मेरी मदद कर सकते हैं? / नमस्ते, मुझे मदद चाहिए`,
    identity: `क्या आप रोबोट हैं? / आप कौन हैं? / आप क्या कर सकते हैं? / आपका नाम क्या है / क्या कोई है?`,
    complaint: `यह गलत है / आपने मेरे सवाल का जवाब नहीं दिया / मुझे समझ नहीं आया / गलत जवाब`,
  },
  ja: {
    greeting: `こんにちは / おはようございます / こんばんは / はじめまして / お世話になっております。`,
    thanks: `ありがとう / ありがとうございます / ありがとうございました。助かりました / どうもありがとうございます / 了解です、ありがとうございます`,
    goodbye: `さようなら / またね`,
    yes: `はい / はい、お願いします / ええ / ぜひお願いします`,
    acknowledgement: `わかりました / 了解しました / なるほど / 承知しました / いいですね / 大丈夫です`,
    refusal: `いいえ / いいえ、結構です / 特にありません / もう大丈夫です / それだけです / 不要です`,
    help: `助けて / 質問があります / 聞きたいことがあるのですが / こんにちは、質問があります / 質問してもいいですか？`,
    identity: `あなたは誰ですか？ / あなたはロボットですか？ / 人間ですか / 何ができますか？ / 誰かいますか`,
    complaint: `違います / それは間違いです / 役に立たない / 質問に答えていません / 意味がわかりません / 答えになっていません`,
  },
  zh: {
    greeting: `你好 / 您好！ / 早上好 / 大家好 / 你好，在吗`,
    thanks: `谢谢 / 非常感谢 / 好的，谢谢 / 谢谢你的帮助 / 多谢`,
    goodbye: `再见 / 拜拜 / 谢谢，再见 / 晚安`,
    yes: `是的 / 好的 / 需要 / 当然`,
    acknowledgement: `明白了 / 知道了 / 太好了 / 很好 / 没关系 / 我懂了`,
    refusal: `不用了 / 不用了，谢谢 / 没有了 / 不需要 / 算了 / 没有其他问题了`,
    help: `帮助 / 我有一个问题 / 你能帮我吗？ / 你好，我需要帮助`,
    identity: `你是机器人吗？ / 你是谁？ / 你是真人吗 / 你能做什么？ / 你叫什么名字 / 有人吗`,
    complaint: `不对 / 这个回答不对 / 没有帮助 / 答非所问 / 你没回答我的问题 / 我不明白`,
  },
  ko: {
    greeting: `안녕하세요 / 안녕 / 반갑습니다 / 여보세요`,
    thanks: `감사합니다 / 고마워요 / 네 감사합니다 / 정말 감사합니다 / 도와주셔서 감사합니다`,
    goodbye: `안녕히 계세요 / 수고하세요 / 감사합니다. 안녕히 계세요 / 좋은 하루 되세요`,
    yes: `네 / 예 / 네, 부탁드립니다 / 물론이죠`,
    acknowledgement: `알겠습니다 / 알겠어요 / 좋네요 / 그렇군요 / 오케이 / 괜찮아요`,
    refusal: `아니요 / 아니요, 괜찮아요 / 더 없어요 / 필요 없어요 / 그게 다예요`,
    help: `도와주세요 / 질문이 있어요 / 안녕하세요, 질문 있습니다 / 도와주실 수 있나요? / 뭐 좀 물어봐도 될까요?`,
    identity: `로봇인가요? / 당신은 누구세요? / 사람이에요? / 뭘 할 수 있어요? / 이름이 뭐예요?`,
    complaint: `틀렸어요 / 도움이 안 돼요 / 제 질문에 대한 답이 아니에요 / 무슨 말인지 모르겠어요`,
  },
}

const split = (list: string): string[] => list.split(' / ').map((message) => message.trim())

test('small talk is recognised in every language, as what it is', () => {
  const wrong: string[] = []
  for (const [language, kinds] of Object.entries(TALK) as [TalkLanguage, Record<TalkKind, string>][])
    for (const [kind, messages] of Object.entries(kinds))
      for (const message of split(messages)) {
        const read = readMessage(message, [language])
        if (read.kind !== kind || read.language !== language)
          wrong.push(`${language} ${kind}: ${message} -> ${read.kind} ${read.language}`)
      }
  assert.deepEqual(wrong, [])
  assert.deepEqual(Object.keys(TALK).sort(), Object.keys(TALK_WORDS).sort())
})

const QUESTIONS = `
  Where is my parcel?
  How much is delivery?
  Hello Fresh cancel
  perfect fit guarantee
  what can you do about a late parcel?
  Danke-Karte bestellen
  can you help me with my invoice
  help me cancel my order
  I need help with the app
  I have a question about returns
  are you open on Sunday?
  Are you a robot vacuum dealer?
  who are you working with?
  Is there a customer support number?
  no money back guarantee
  good day care centre
  Top restaurants nearby
  thank you card
  OK Go tickets
  bye bye baby monitor
  nothing works
  it is wrong that I was charged twice
  the colour is wrong
  My lamp is not working
  This lamp doesn't help my plants
  cancel
  refund
  12345
  menu
  price?
  Was kostet der Versand?
  Gute Nacht Tee
  Hilfe bei der Rechnung
  Ich habe eine Frage zur Garantie
  Können Sie mir sagen, wann Sie öffnen?
  Das Gerät ist falsch eingestellt
  Guten Morgen Müsli bestellen
  Habt ihr auch Hallo-Karten?
  Combien coûte la livraison ?
  J'ai une question sur ma facture
  Bonne nuit pyjama
  ¿Cuánto cuesta el envío?
  Tengo una pregunta sobre mi pedido
  Quanto costa la spedizione?
  Ho una domanda sulla fattura
  Quanto custa o envio?
  Wat kost de verzending?
  Ile kosztuje dostawa?
  Hvad koster levering?
  Hva koster frakt?
  Vad kostar frakten?
  Paljonko toimitus maksaa?
  Kolik stojí doprava?
  Сколько стоит доставка?
  Скільки коштує доставка?
  Kargo ne kadar?
  كم تكلفة الشحن؟
  डिलीवरी का खर्च कितना है?
  送料はいくらですか？
  返品できますか
  質問の回数に制限はありますか
  运费是多少？
  可以退货吗？
  你们的营业时间是什么？
  배송비는 얼마인가요?
  반품할 수 있나요?
`

test('a message with a subject is a question, however it begins', () => {
  const wrong = QUESTIONS.split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && readMessage(line).kind !== 'question')
  assert.deepEqual(wrong, [])
})

test('the small talk around a question is left out', () => {
  const pairs: [message: string, question: string][] = [
    ['ok, and how much is delivery?', 'and how much is delivery?'],
    ['no, I mean the red one', 'I mean the red one'],
    ['thanks but where is my order', 'where is my order'],
    ['Hallo, where is my invoice?', 'where is my invoice?'],
    ['Hi Anna, where is my parcel?', 'where is my parcel?'],
    ['How much is delivery?\nThanks!', 'How much is delivery?'],
    ['How much is delivery?\nhello?', 'How much is delivery?'],
    ['Hi\nI have a question\nhow do I return a lamp', 'how do I return a lamp'],
    ['hello where is my parcel', 'where is my parcel'],
    ['👋 Bonjour ! Quels sont vos horaires ? Merci d’avance', 'Quels sont vos horaires ?'],
    ['Guten Tag, wann haben Sie geöffnet? Vielen Dank und schöne Grüße', 'wann haben Sie geöffnet?'],
    ['Hola, buenas tardes. ¿Cuánto cuesta el envío? Gracias', '¿Cuánto cuesta el envío?'],
    ['こんにちは。送料はいくらですか？よろしくお願いします。', '送料はいくらですか？'],
    ['你好，运费是多少？谢谢', '运费是多少？'],
    [
      'Dear Sir or Madam,\n\nI ordered a lamp. Can I send it back?\n\nBest regards,\nJohn Smith\nTel. 0123 456',
      'I ordered a lamp. Can I send it back?',
    ],
    ['Ok and for children?', 'and for children?'],
    ...[
      '¿Y si lo pido urgente?',
      'Não quero mais ir?',
      'Dopo quanti giorni arriva?',
      'E a -h?',
      'morning after pill',
    ].map((whole): [string, string] => [whole, whole]),
    ['I clicked on it. What now?', 'I clicked on it. What now?'],
    // A name and a subject look alike.
    ['Hello Fresh, cancel', 'Hello Fresh, cancel'],
  ]
  for (const [message, question] of pairs)
    assert.deepEqual([readMessage(message).kind, readMessage(message).question], ['question', question])
})

test('the conversation and the documents tell the language of what is written in several', () => {
  const cases: [message: string, expected: TalkLanguage[], kind: TalkKind, language: TalkLanguage | null][] =
    [
      ['Ciao', [], 'greeting', 'it'],
      ['Ciao', ['de'], 'goodbye', 'de'],
      ['Hallo', [], 'greeting', 'de'],
      ['Hallo', ['nl'], 'greeting', 'nl'],
      ['Hej', ['da'], 'greeting', 'da'],
      ['Hej', [], 'greeting', 'sv'],
      ['hi', [], 'greeting', 'en'],
      ['hi', ['fr', 'de'], 'greeting', 'fr'],
      ['ok', ['pl'], 'acknowledgement', 'pl'],
      ['ok merci', [], 'thanks', 'fr'],
      ['ok merci', ['de'], 'thanks', 'de'],
      ['Tak', ['pl'], 'yes', 'pl'],
      ['Tak', ['da'], 'thanks', 'da'],
      ['Bonjour', ['de'], 'greeting', 'fr'],
      ['👍', ['de'], 'acknowledgement', 'de'],
      ['👍🏽', [], 'acknowledgement', null],
      ['🙏', ['es'], 'thanks', 'es'],
      ['👋', [], 'greeting', null],
      [':-)', [], 'acknowledgement', null],
      ['👎', [], 'complaint', null],
      ['?', ['it'], 'help', 'it'],
      ['...', [], 'help', null],
    ]
  for (const [message, expected, kind, language] of cases) {
    const read = readMessage(message, expected)
    assert.deepEqual([read.kind, read.language], [kind, language], message)
  }
})

test('a greeting with one more word is not sure to be one', () => {
  for (const message of ['Hi Anna', 'Guten Tag Frau Müller', 'Hello Fresh', 'hi price'])
    assert.deepEqual([readMessage(message).kind, readMessage(message).isSure], ['greeting', false], message)
  for (const message of ['Hi!', 'Hello there', 'Guten Tag']) assert.ok(readMessage(message).isSure, message)
})

test('long and strange texts are read in no time', () => {
  for (const text of [
    'ok '.repeat(20_000),
    'ok, '.repeat(20_000),
    '好的'.repeat(20_000),
    '👍'.repeat(20_000),
  ]) {
    const read = readMessage(text)
    assert.ok(['question', 'acknowledgement', 'yes'].includes(read.kind))
  }
})
