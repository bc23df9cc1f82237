import type { TalkLanguage } from '../../../text/talk/talk-words.ts'

/**
 * What the responder says when a person was requested: the request was passed on, nobody is there until a certain
 * time, or it failed.
 */
type Phrases = { done: string; away: (time: string) => string; failed: string }

const PHRASES: Record<TalkLanguage, Phrases> = {
  en: {
    done: 'I have passed this on to our team. Somebody will answer you here.',
    away: (time) => `The team is back on ${time}.`,
    failed: 'I could not reach our team just now. Please try again in a moment.',
  },
  de: {
    done: 'Ich habe das an unser Team weitergegeben. Jemand wird Ihnen hier antworten.',
    away: (time) => `Das Team ist wieder da: ${time}.`,
    failed: 'Ich konnte unser Team gerade nicht erreichen. Bitte versuchen Sie es gleich noch einmal.',
  },
  fr: {
    done: 'J’ai transmis votre demande à notre équipe. Quelqu’un vous répondra ici.',
    away: (time) => `L’équipe sera de retour ${time}.`,
    failed: 'Je n’ai pas pu joindre notre équipe. Veuillez réessayer dans un instant.',
  },
  es: {
    done: 'He pasado su consulta a nuestro equipo. Alguien le responderá aquí.',
    away: (time) => `El equipo vuelve el ${time}.`,
    failed: 'No he podido contactar con nuestro equipo. Inténtelo de nuevo en un momento.',
  },
  pt: {
    done: 'Encaminhei o seu pedido à nossa equipe. Alguém vai responder aqui.',
    away: (time) => `A equipe volta: ${time}.`,
    failed: 'Não consegui contatar a nossa equipe. Tente novamente daqui a pouco.',
  },
  it: {
    done: 'Ho inoltrato la richiesta al nostro team. Qualcuno le risponderà qui.',
    away: (time) => `Il team torna ${time}.`,
    failed: 'Non sono riuscito a contattare il nostro team. Riprovi tra un momento.',
  },
  nl: {
    done: 'Ik heb dit doorgegeven aan ons team. Iemand zal u hier antwoorden.',
    away: (time) => `Het team is terug op ${time}.`,
    failed: 'Ik kon ons team nu niet bereiken. Probeer het zo nog eens.',
  },
  pl: {
    done: 'Przekazałem to naszemu zespołowi. Ktoś odpowie tutaj.',
    away: (time) => `Zespół wraca: ${time}.`,
    failed: 'Nie udało mi się teraz skontaktować z zespołem. Proszę spróbować za chwilę.',
  },
  sv: {
    done: 'Jag har skickat detta vidare till vårt team. Någon kommer att svara dig här.',
    away: (time) => `Teamet är tillbaka ${time}.`,
    failed: 'Jag kunde inte nå vårt team just nu. Försök igen om en stund.',
  },
  da: {
    done: 'Jeg har sendt dette videre til vores team. Nogen vil svare dig her.',
    away: (time) => `Teamet er tilbage ${time}.`,
    failed: 'Jeg kunne ikke få fat i vores team lige nu. Prøv igen om lidt.',
  },
  no: {
    done: 'Jeg har sendt dette videre til teamet vårt. Noen vil svare deg her.',
    away: (time) => `Teamet er tilbake ${time}.`,
    failed: 'Jeg fikk ikke tak i teamet vårt akkurat nå. Prøv igjen om litt.',
  },
  fi: {
    done: 'Välitin tämän tiimillemme. Sinulle vastataan täällä.',
    away: (time) => `Tiimi palaa: ${time}.`,
    failed: 'En saanut juuri nyt yhteyttä tiimiimme. Yritä hetken kuluttua uudelleen.',
  },
  cs: {
    done: 'Předal jsem to našemu týmu. Někdo vám zde odpoví.',
    away: (time) => `Tým bude zpět: ${time}.`,
    failed: 'Teď se mi nepodařilo spojit s naším týmem. Zkuste to prosím za chvíli.',
  },
  uk: {
    done: 'Я передав ваше питання нашій команді. Вам відповідять тут.',
    away: (time) => `Команда повернеться: ${time}.`,
    failed: 'Зараз не вдалося зв’язатися з командою. Спробуйте ще раз за хвилину.',
  },
  tr: {
    done: 'Bunu ekibimize ilettim. Size buradan yanıt verilecek.',
    away: (time) => `Ekip şu zaman geri dönecek: ${time}.`,
    failed: 'Şu anda ekibimize ulaşamadım. Lütfen birazdan tekrar deneyin.',
  },
  ru: {
    done: 'Я передал ваш вопрос нашей команде. Вам ответят здесь.',
    away: (time) => `Команда вернётся: ${time}.`,
    failed: 'Сейчас не удалось связаться с командой. Попробуйте ещё раз через минуту.',
  },
  ar: {
    done: 'لقد حوّلت طلبك إلى فريقنا. سيرد عليك أحدهم هنا.',
    away: (time) => `سيعود الفريق ${time}.`,
    failed: 'تعذّر الوصول إلى فريقنا الآن. يرجى المحاولة بعد قليل.',
  },
  hi: {
    done: 'मैंने यह हमारी टीम को भेज दिया है। कोई आपको यहीं जवाब देगा।',
    away: (time) => `टीम फिर उपलब्ध होगी: ${time}।`,
    failed: 'अभी हमारी टीम से संपर्क नहीं हो सका। कृपया थोड़ी देर में फिर कोशिश करें।',
  },
  ja: {
    done: '担当者に引き継ぎました。こちらで担当者がお答えします。',
    away: (time) => `対応の再開は${time}です。`,
    failed: '現在、担当者に連絡できませんでした。少し後でもう一度お試しください。',
  },
  zh: {
    done: '我已将您的请求转给我们的团队，工作人员会在这里回复您。',
    away: (time) => `团队将于${time}恢复服务。`,
    failed: '暂时无法联系到我们的团队，请稍后再试。',
  },
  ko: {
    done: '담당 팀에 전달했습니다. 담당자가 여기에서 답변해 드립니다.',
    away: (time) => `담당 팀은 ${time}에 돌아옵니다.`,
    failed: '지금은 담당 팀에 연결할 수 없습니다. 잠시 후 다시 시도해 주세요.',
  },
}

/** Returns the sentence for the result of a handover; `output` is the result of the action. */
export function handoverText(language: TalkLanguage, output: unknown): string {
  const phrases = PHRASES[language]
  const { status, data } = (output ?? {}) as {
    status?: string
    data?: { opensAt?: string | null; timeZone?: string | null }
  }
  if (status !== 'success') return phrases.failed
  if (!data?.opensAt) return phrases.done
  const time = new Intl.DateTimeFormat(language, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
    timeZone: data.timeZone ?? 'UTC',
  }).format(new Date(data.opensAt))
  return `${phrases.done} ${phrases.away(time)}`
}
