import type { StoreMessage } from 'chat-server/client/store'
import { endingOf } from '../answers/ending-of.ts'
import type { People } from '../app/people.ts'
import { answersTexts } from '../texts/answers.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { authorOf } from './author.ts'
import { isRunning } from './is-running.ts'
import { createPlaceNews } from './news.ts'

/** Of a long message, the beginning is read aloud. */
const MAX_LENGTH = 200

/** What is new in a list of messages, for screen readers. */
export interface MessageNews {
  /** @param messages as they are now; `undefined` while their end is not read */
  update(messages: readonly StoreMessage[] | undefined): void
  leave(): void
}

export function createMessageNews(people: People, user_id: string): MessageNews {
  const { tell, leave } = createPlaceNews()
  let known: { statuses: ReadonlyMap<string, string>; latest: string } | undefined

  function tellOf(message: StoreMessage): void {
    const { id, role, author_user_id, content } = message
    const author = authorOf(message, people)
    const { answered, arrived } = texts.value.messages
    const ending = endingOf(message)
    if (role !== 'assistant') {
      if (author_user_id !== user_id) tell({ id, author, sentence: arrived(author, content.slice(0, MAX_LENGTH)) })
    } else if (isRunning(message)) tell({ id, sentence: roomTexts.value.news.answering(author) })
    else tell({ id, sentence: ending ? arrived(author, ending.text(answersTexts.value)) : answered(author) })
  }

  return {
    update(messages) {
      const before = known
      const stored = messages?.filter(({ pending }) => !pending)
      known = stored && {
        statuses: new Map(stored.map(({ id, status }) => [id, status])),
        latest: latestOf(stored),
      }
      if (!before) return
      for (const message of stored ?? []) {
        const status = before.statuses.get(message.id)
        // What comes with a further page was written before.
        const isNew = status === undefined && message.created_at > before.latest
        const hasEnded = status !== undefined && isRunning({ status }) && !isRunning(message)
        if ((isNew || hasEnded) && !message.deleted_at) tellOf(message)
      }
    },
    leave,
  }
}

/** When the latest one arrived: in a tree it is not the last one. */
function latestOf(messages: readonly StoreMessage[]): string {
  let latest = ''
  for (const { created_at } of messages) if (created_at > latest) latest = created_at
  return latest
}
