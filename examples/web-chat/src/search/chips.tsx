import type { ConversationSummary, User } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { nameOf, type People } from '../app/people.ts'
import { goTo, type SearchRoute } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import { Icon } from '../parts/icon.tsx'
import { roomTexts } from '../texts/room.ts'
import { dateOf } from '../texts/time.ts'
import { FILTERS, type Filter, type HAS, withFilter } from './narrowing.ts'

interface ChipsProps {
  route: SearchRoute
  /** Those that may have a name. */
  conversations: readonly Pick<ConversationSummary, 'id' | 'title' | 'with' | 'direct'>[]
  user: User
  /** After one was taken away. */
  onRemoved: () => void
}

/** What narrows a search, by names; a click takes it away. */
export function Chips({ route, conversations, user, onRemoved }: ChipsProps) {
  const { people } = useApp()
  const words = roomTexts.value.search
  const place = conversations.find(({ id }) => id === route.in)
  const texts: Record<Filter, () => string> = {
    in: () => `${words.in} ${place ? `${place.direct ? '' : '# '}${titleOf(place)}` : '…'}`,
    from: () => `${words.from} ${authorOf(route.from!, user, people)}`,
    has: () => `${words.has} ${words.having[route.has as (typeof HAS)[number]] ?? route.has}`,
    after: () => words.since(dateOf(route.after!)),
    before: () => words.until(dateOf(route.before!)),
  }
  const filters = FILTERS.filter((filter) => route[filter] !== undefined)
  if (filters.length === 0) return null
  return (
    <ul class="chips">
      {filters.map((filter) => (
        <li key={filter}>
          <button
            type="button"
            class="chip"
            aria-label={words.without(texts[filter]())}
            onClick={() => {
              goTo(withFilter(route, filter, ''), { replace: true })
              onRemoved()
            }}
          >
            <span dir="auto">{texts[filter]()}</span>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  )
}

/** The name of an author, who may be given by an id, a username or a name. */
function authorOf(from: string, user: User, people: People): string {
  if (from === `@${user.username}` || from === user.id) return roomTexts.value.search.me
  const person = [...people.known.value.values()].find(
    ({ user_id, username }) => from === user_id || from === `@${username}`,
  )
  return person ? nameOf(person) : from
}
