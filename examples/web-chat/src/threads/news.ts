import { listNames } from '../inbox/sentence.ts'
import { announce } from '../parts/announcer.tsx'
import { roomTexts } from '../texts/room.ts'

/** What arrives at once is said together. */
const GATHER_MS = 350

/** A screen reader gets at most one text in this time: what is new until then is said together. */
const PAUSE_MS = 3_000

/** Something new in a place. */
interface News {
  /** What it is about: of several about the same, the last one counts. */
  id: string
  sentence: string
  /** The name of who has written it; missing for what has become of an answer. */
  author?: string
}

/** What is new in a place that is shown. */
export interface PlaceNews {
  tell(news: News): void
  /** What was not said yet is no longer. */
  leave(): void
}

const queue = {
  news: new Map<string, News & { place: object }>(),
  timer: undefined as ReturnType<typeof setTimeout> | undefined,
}

export function createPlaceNews(): PlaceNews {
  const place = {}
  return {
    tell(news) {
      queue.news.delete(news.id)
      queue.news.set(news.id, { ...news, place })
      queue.timer ??= setTimeout(say, GATHER_MS)
    },
    leave() {
      for (const news of queue.news.values()) if (news.place === place) queue.news.delete(news.id)
    },
  }
}

/** A message in its words; several as a number, with their authors. */
function say(): void {
  const news = [...queue.news.values()]
  queue.news.clear()
  queue.timer = news.length > 0 ? setTimeout(say, PAUSE_MS) : undefined
  const authors = news.flatMap(({ author = [] }) => author)
  const others = news.filter(({ author }) => authors.length < 2 || author === undefined)
  const sum = roomTexts.value.news.messages(authors.length, listNames([...new Set(authors)]))
  const sentences = [...(authors.length > 1 ? [sum] : []), ...others.map(({ sentence }) => sentence)]
  if (sentences.length > 0) announce(sentences.join(' '))
}
