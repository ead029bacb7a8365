/** The texts of the page in English. */
const en = {
  title: (name: string) => `API of ${name}`,
  search: 'Search',
  none: 'Nothing is called so.',
  found: (count: number) => (count === 1 ? '1 endpoint' : `${count} endpoints`),
  loading: 'One moment…',
  failed: 'The description of the API cannot be read.',
  retry: 'Try again',
  back: 'All endpoints',
  signed_in: (name: string) => `Signed in as ${name}`,
  signed_out: 'Not signed in',
  chat: 'To the chat',
  access: {
    public: 'Needs no session.',
    optional: 'With or without a session.',
    session: 'Needs a session.',
    both: 'Needs a session or an API key.',
    token: 'Needs the token of the metrics, where one is configured.',
  },
  parameters: 'Parameters',
  body: 'Body',
  responses: 'Responses',
  required: 'required',
  send: 'Send',
  stop: 'Stop',
  attempt: 'Try it',
  effect: 'This changes data of the service.',
  invalid: 'This is not JSON.',
  unreachable: 'There was no response.',
  took: (status: number, ms: number) => `${status} in ${ms} ms`,
  headers: 'Headers',
  empty: 'Without a body.',
}

type DocsTexts = typeof en

const de: DocsTexts = {
  title: (name) => `API von ${name}`,
  search: 'Suchen',
  none: 'Nichts heißt so.',
  found: (count) => (count === 1 ? '1 Endpunkt' : `${count} Endpunkte`),
  loading: 'Einen Moment…',
  failed: 'Die Beschreibung der API lässt sich nicht lesen.',
  retry: 'Noch einmal versuchen',
  back: 'Alle Endpunkte',
  signed_in: (name) => `Angemeldet als ${name}`,
  signed_out: 'Nicht angemeldet',
  chat: 'Zum Chat',
  access: {
    public: 'Braucht keine Sitzung.',
    optional: 'Mit oder ohne Sitzung.',
    session: 'Braucht eine Sitzung.',
    both: 'Braucht eine Sitzung oder einen API-Schlüssel.',
    token: 'Braucht das Token der Metriken, wo eines eingestellt ist.',
  },
  parameters: 'Parameter',
  body: 'Inhalt',
  responses: 'Antworten',
  required: 'nötig',
  send: 'Senden',
  stop: 'Anhalten',
  attempt: 'Ausprobieren',
  effect: 'Das ändert Daten des Dienstes.',
  invalid: 'Das ist kein JSON.',
  unreachable: 'Es kam keine Antwort.',
  took: (status, ms) => `${status} in ${ms} ms`,
  headers: 'Kopfzeilen',
  empty: 'Ohne Inhalt.',
}

/** The language of the browser, if there are texts in it; the description of the API itself is English. */
export const language =
  navigator.languages.map((tag) => tag.slice(0, 2)).find((tag) => ['en', 'de'].includes(tag)) ?? 'en'

export const texts = language === 'de' ? de : en
