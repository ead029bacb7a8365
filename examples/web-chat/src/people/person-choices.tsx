import type { Person } from 'chat-server/client'
import { nameOf } from '../app/people.ts'
import { Avatar } from '../parts/avatar.tsx'
import { texts } from '../texts/texts.ts'

interface PersonChoicesProps {
  found: readonly Person[]
  /** Whether it is known that there are none. */
  isEmpty: boolean
  isDisabled: boolean
  /** What the button of a person says. @param name of the person. Default: the name */
  label?: (name: string) => string
  onTake: (person: Person) => void
}

/** The people who were found, of whom one is taken. */
export function PersonChoices({ found, isEmpty, isDisabled, label = (name) => name, onTake }: PersonChoicesProps) {
  return (
    <ul class="choices" aria-live="polite">
      {found.map((person) => (
        <li key={person.id}>
          <button type="button" disabled={isDisabled} onClick={() => onTake(person)}>
            <Avatar id={person.id} name={nameOf(person)} photo={person.avatar_url} />
            <span dir="auto">{label(nameOf(person))}</span>
            <small>
              <bdi>@{person.username}</bdi>
            </small>
          </button>
        </li>
      ))}
      {isEmpty && <li class="quiet">{texts.value.conversations.direct_none}</li>}
    </ul>
  )
}
