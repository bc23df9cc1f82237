/** The texts of the script on the owner's page; `{0}` is the name of the chat. */
type Words = { open: string; unread: string; close: string; loading: string }

const ENGLISH: Words = {
  open: 'Chat with {0}',
  unread: 'Chat with {0}, new message',
  close: 'Close chat',
  loading: 'Loading the chat …',
}

const WORDS = new Map<string, Words>(
  Object.entries({
    en: ENGLISH,
    ar: {
      open: 'المحادثة مع {0}',
      unread: 'المحادثة مع {0}، رسالة جديدة',
      close: 'إغلاق المحادثة',
      loading: 'جارٍ تحميل المحادثة …',
    },
    de: {
      open: 'Chat mit {0}',
      unread: 'Chat mit {0}, neue Nachricht',
      close: 'Chat schließen',
      loading: 'Chat wird geladen …',
    },
    es: {
      open: 'Chat con {0}',
      unread: 'Chat con {0}, mensaje nuevo',
      close: 'Cerrar el chat',
      loading: 'Cargando el chat …',
    },
    fr: {
      open: 'Chat avec {0}',
      unread: 'Chat avec {0}, nouveau message',
      close: 'Fermer le chat',
      loading: 'Chargement du chat …',
    },
    it: {
      open: 'Chat con {0}',
      unread: 'Chat con {0}, nuovo messaggio',
      close: 'Chiudere la chat',
      loading: 'Caricamento della chat …',
    },
    ja: {
      open: '{0} とチャット',
      unread: '{0} とチャット、新しいメッセージがあります',
      close: 'チャットを閉じる',
      loading: 'チャットを読み込み中 …',
    },
    nl: {
      open: 'Chat met {0}',
      unread: 'Chat met {0}, nieuw bericht',
      close: 'Chat sluiten',
      loading: 'De chat wordt geladen …',
    },
    pl: {
      open: 'Czat: {0}',
      unread: 'Czat: {0}, nowa wiadomość',
      close: 'Zamknij czat',
      loading: 'Wczytywanie czatu …',
    },
    pt: {
      open: 'Chat com {0}',
      unread: 'Chat com {0}, nova mensagem',
      close: 'Fechar o chat',
      loading: 'Carregando o chat …',
    },
    tr: {
      open: '{0} ile sohbet',
      unread: '{0} ile sohbet, yeni mesaj',
      close: 'Sohbeti kapat',
      loading: 'Sohbet yükleniyor …',
    },
    zh: {
      open: '与 {0} 聊天',
      unread: '与 {0} 聊天，有新消息',
      close: '关闭聊天',
      loading: '正在加载聊天 …',
    },
  }),
)

/** Returns the texts in the first known language of a comma-separated list of BCP 47 tags, or in English. */
export function launcherWords(languages: string, name: string): Words {
  const codes = languages.slice(0, 200).toLowerCase().split(',')
  const known = codes.map((code) => WORDS.get(code.split(/[-_]/)[0] ?? '')).find((words) => words)
  const words = known ?? ENGLISH
  const named = (text: string): string => text.replace('{0}', () => name)
  return { ...words, open: named(words.open), unread: named(words.unread) }
}
