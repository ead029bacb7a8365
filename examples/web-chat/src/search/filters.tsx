import type { ConversationSummary, User } from 'chat-server/client'
import { useId, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { goTo, type SearchRoute } from '../app/route.ts'
import { titleOf } from '../conversations/title.ts'
import { Select } from '../parts/select.tsx'
import { roomTexts } from '../texts/room.ts'
import { type Filter, HAS, withFilter } from './narrowing.ts'

interface FiltersProps {
  route: SearchRoute
  conversations: readonly ConversationSummary[]
  user: User
}

/** Narrows a search by choosing: what is chosen is searched for at once. */
export function Filters({ route, conversations, user }: FiltersProps) {
  const { people } = useApp()
  const { search: words } = roomTexts.value
  const change = (key: Filter, value: string) => goTo(withFilter(route, key, value), { replace: true })
  const authors = [...people.known.value.values()]
    .filter(({ user_id }) => user_id !== user.id)
    .map((person): [string, string] => [`@${person.username}`, nameOf(person)])
    .sort(([, one], [, other]) => one.localeCompare(other))
  const [isOpen, setOpen] = useState(false)
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.narrow}</summary>
      {/* Not before: after an option is added to a closed one, Chromium leaves the caret of the search field where it is. */}
      {isOpen && (
        <div class="search-filters">
          <Select
            label={words.in}
            value={route.in ?? ''}
            options={known(route.in, [
              ['', words.anywhere],
              ...conversations.map((each): [string, string] => [each.id, titleOf(each)]),
            ])}
            onChange={(value) => change('in', value)}
          />
          <Select
            label={words.from}
            value={route.from ?? ''}
            options={known(route.from, [['', words.anyone], [`@${user.username}`, words.me], ...authors])}
            onChange={(value) => change('from', value)}
          />
          <Select
            label={words.has}
            value={route.has ?? ''}
            options={[['', words.anything], ...HAS.map((each): [string, string] => [each, words.having[each]])]}
            onChange={(value) => change('has', value)}
          />
          <Day label={words.after} value={route.after} onChange={(value) => change('after', value)} />
          <Day label={words.before} value={route.before} onChange={(value) => change('before', value)} />
        </div>
      )}
    </details>
  )
}

/** What is chosen is among the options, also if it was typed. */
function known(value: string | undefined, options: [string, string][]): [string, string][] {
  return value === undefined || options.some(([each]) => each === value) ? options : [...options, [value, value]]
}

function Day({
  label,
  value = '',
  onChange,
}: {
  label: string
  value?: string | undefined
  onChange: (value: string) => void
}) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type="date" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
    </div>
  )
}
