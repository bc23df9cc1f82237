import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asksForPerson, offersPerson } from './asks-for-person.ts'

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
const wrong = (texts: string[], expected: boolean, offered: boolean): string[] =>
  texts.filter((text) => asksForPerson(text, { offered }) !== expected)

const REQUESTS = lines(`
  I want to talk to a person
  Can I speak with someone from your team?
  I'd like to chat with a real human please
  human please
  HUMAN
  Agent!
  Please connect me to customer service
  transfer me to an operator
  This is useless. Get me a human being.
  No, I want to talk to a person.
  I don't want a bot, give me a human
  Could you put me through to somebody who can help?
  is there a real person I can talk to?
  let me speak to your manager
  I need a live agent
  Ich möchte mit einem Menschen sprechen
  Kann ich bitte mit jemandem reden?
  Verbinden Sie mich mit einem Mitarbeiter
  Ich will keinen Bot, ich will einen Menschen
  Mitarbeiter bitte
  Je veux parler à un humain
  Puis-je parler à quelqu'un ?
  Passez-moi un conseiller s'il vous plaît
  Je voudrais parler avec un conseiller
  Quiero hablar con una persona
  ¿Puedo hablar con un agente?
  Necesito un humano por favor
  Páseme con un asesor
  Quero falar com uma pessoa
  Posso falar com um atendente?
  Preciso de um atendente humano
  Vorrei parlare con un operatore
  Posso parlare con qualcuno?
  Mi passi un operatore, per favore
  Ik wil graag een medewerker spreken
  Kan ik met een mens praten?
  Chcę porozmawiać z człowiekiem
  Proszę połączyć mnie z konsultantem
  Bir insanla konuşmak istiyorum
  Beni müşteri temsilcisine bağlar mısınız?
  Хочу поговорить с человеком
  Соедините меня с оператором
  Можно поговорить с сотрудником?
  أريد التحدث مع شخص حقيقي
  حولني إلى موظف من فضلك
  मुझे किसी इंसान से बात करनी है
  Mensch bitte
  Est-ce que je peux parler à quelqu'un ?
  هل يمكنني التحدث مع شخص ما؟
  मैं किसी व्यक्ति से बात करना चाहता हूँ
  कीमत के लिए मुझे किसी इंसान से बात करनी है
  担当者と話したいです
  オペレーターにつないでください
  人間のスタッフをお願いします
  我想跟真人说话
  转人工
  请帮我联系客服
  상담원과 통화하고 싶어요
  사람과 연결해 주세요
  Jag vill prata med en människa
  Kan jag få prata med kundtjänst?
  Jeg vil gerne tale med et menneske
  Stil mig om til en medarbejder, tak
  Jeg vil snakke med et menneske
  Kan jeg få snakke med kundeservice?
  Haluan puhua ihmisen kanssa
  Voinko jutella asiakaspalvelijan kanssa?
  Chci mluvit s člověkem
  Spojte mě prosím s operátorem
  Хочу поговорити з людиною
  З'єднайте мене з оператором
`)

const OTHERS = lines(`
  I don't want to talk to a person
  I do not need a human, just tell me the price
  Please don't transfer me to an agent
  How do I talk to a person about my invoice?
  How can customers reach a human agent in your product?
  What does a support agent cost?
  When can I speak to someone on the phone?
  Do I need to speak to someone to cancel?
  Does the app let users talk to a person?
  Can I pay in person?
  How much is it per person?
  I want a ticket for one person
  I want to create an agent that answers in German
  How do I add a team member?
  Are you a human?
  I talked to somebody yesterday
  Where is your human resources department?
  What is the difference between a bot and a human?
  Does the lamp support dimming?
  I need support for Windows 11
  Who wrote this?
  Hello
  Yes
  Ich möchte nicht mit einem Menschen sprechen
  Wie kann ich mit jemandem über meine Rechnung sprechen?
  Was kostet ein Mitarbeiterkonto?
  Wie viele Menschen arbeiten bei euch?
  Je ne veux pas parler à un humain
  Comment parler à un conseiller ?
  No quiero hablar con una persona
  ¿Cómo puedo hablar con un agente?
  Não quero falar com um atendente
  Como falo com um atendente?
  Non voglio parlare con un operatore
  Come posso parlare con un operatore?
  Ik wil niet met een mens praten
  Hoe kan ik een medewerker spreken?
  Nie chcę rozmawiać z człowiekiem
  İnsanla konuşmak istemiyorum
  Bir temsilciyle nasıl konuşabilirim?
  Я не хочу говорить с человеком
  Как связаться с оператором?
  لا أريد التحدث مع شخص
  كيف يمكنني التحدث مع موظف؟
  担当者と話したくないです
  オペレーターと話す方法を教えて
  我不想跟真人说话
  怎么联系客服
  상담원과 통화하고 싶지 않아요
  상담원과 어떻게 통화하나요?
  Is there a customer support number?
  I need the operator manual
  Gibt es eine Telefonnummer vom Kundenservice?
  ¿Cuál es el número de atención al cliente?
  Il y a un numéro pour le service client ?
  What are the opening hours of customer service?
  Jag vill inte prata med en människa
  Hur kan jag prata med kundtjänst?
  Jeg vil ikke tale med et menneske
  Hvordan kan jeg snakke med et menneske?
  En halua puhua ihmisen kanssa
  Miten voin puhua asiakaspalvelijan kanssa?
  Nechci mluvit s člověkem
  Jak mohu mluvit s operátorem?
  Я не хочу говорити з людиною
  Як поговорити з оператором?
`)

const ACCEPTED = lines(`
  yes
  Yes please
  yes, please do
  Sure, go ahead
  ok
  That would be great
  Ja bitte
  ja, gerne
  Oui, volontiers
  Sí, por favor
  Sim, por favor
  Sì, grazie
  Ja graag
  Tak, poproszę
  Evet lütfen
  Да, пожалуйста
  نعم من فضلك
  हाँ
  要
  はい、お願いします
  好的
  네, 부탁해요
  Ja tack
  Ja tak
  Ja takk
  Kyllä kiitos
  Ano, prosím
  Так, будь ласка
  Tak
`)

const DECLINED = lines(`
  no
  No thanks
  not now
  Please don't
  yes but first tell me what the premium plan costs per year in euros
  What are your opening hours?
  Nein danke
  Non merci
  No, gracias
  Нет, спасибо
  いいえ、結構です
  不用了
  我要先知道价格
  要多少钱
  아니요
`)

test('requests for a person are recognised in many words and languages', () => {
  assert.deepEqual(wrong(REQUESTS, true, false), [])
})
test('refusals of a person, and questions about reaching one, are not requests', () => {
  assert.deepEqual(wrong(OTHERS, false, false), [])
})
test('a yes only counts after an offer', () => {
  assert.deepEqual(wrong(ACCEPTED, true, true), [])
  assert.deepEqual(wrong(ACCEPTED, false, false), [])
  assert.deepEqual(wrong(DECLINED, false, true), [])
  assert.ok(offersPerson('I could not find it. Would you like me to pass your question on to a human?'))
  assert.ok(offersPerson('Soll ich Ihre Frage an einen Menschen weitergeben?'))
  assert.ok(!offersPerson('You are welcome. Is there anything else you would like to know?'))
})

test('a long mail asks for a person only in plain words', () => {
  const mail = (end: string): string =>
    `Hello,\n\n${'I bought a lamp from a person in your shop and it did not arrive. '.repeat(10)}\n${end}\n\nAnna`
  for (const end of [
    'Please have somebody call me.',
    'I would like to talk to a person about this.',
    'Bitte rufen Sie mich an, ich möchte mit einem Menschen sprechen.',
  ])
    assert.ok(asksForPerson(mail(end), { offered: false }), end)
  for (const end of ['Where is the lamp?', 'Your support has called me twice.', 'Yes please', 'Human.'])
    assert.ok(!asksForPerson(mail(end), { offered: true }), end)
})
