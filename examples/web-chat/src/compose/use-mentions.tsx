import type { RefObject, TextareaHTMLAttributes, VNode } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { announce } from '../parts/announcer.tsx'
import { AssistantAvatar, Avatar } from '../parts/avatar.tsx'
import { texts } from '../texts/texts.ts'
import { mentionChoices } from './mention-choices.ts'
import { type MentionChoice, type MentionQuery, mentionQueryOf, withMention } from './mention-query.ts'

/** Keys that move the caret: another name may be before it then. */
const MOVES = ['ArrowLeft', 'ArrowRight', 'Home', 'End']

/** The completion of names in a field. */
interface Completion {
  /** Of the field. */
  props: TextareaHTMLAttributes
  list: VNode | null
  /** Reads what is typed, after each input. */
  read(): void
  /** @returns whether the key was one of the list */
  press(event: KeyboardEvent): boolean
}

/**
 * Offers names behind an `@`: arrows choose one, Enter and Tab take it, Escape closes the list.
 *
 * @param onAssistant called when the assistant is chosen; without it, it is not offered
 */
export function useMentions(
  field: RefObject<HTMLTextAreaElement | null>,
  conversation_id: string,
  onChange: (text: string) => void,
  onAssistant?: () => void,
): Completion {
  const app = useApp()
  const id = useId()
  const [query, setQuery] = useState<MentionQuery>()
  const [at, setAt] = useState(0)
  const closed = useRef<number | undefined>(undefined)
  const caret = useRef<number | undefined>(undefined)
  const choices = query ? mentionChoices(app, conversation_id, query.query, onAssistant !== undefined) : []
  const chosen = Math.min(at, choices.length - 1)
  useLayoutEffect(() => {
    if (caret.current === undefined) return
    field.current?.setSelectionRange(caret.current, caret.current)
    caret.current = undefined
  })
  useEffect(() => {
    if (choices.length > 0) announce(texts.value.composer.names(choices.length))
  }, [choices.length])

  function read(): void {
    const { value, selectionStart } = field.current!
    const next = mentionQueryOf(value, selectionStart)
    if (next?.start !== closed.current) closed.current = undefined
    setQuery(closed.current === undefined ? next : undefined)
    setAt(0)
  }

  function take({ username }: MentionChoice): void {
    const next = withMention(field.current!.value, query!, username)
    onChange(next.text)
    if (username === undefined) onAssistant?.()
    caret.current = next.caret
    setQuery(undefined)
  }

  function press(event: KeyboardEvent): boolean {
    if (choices.length === 0 || event.isComposing) return false
    const { key } = event
    if (key === 'ArrowDown' || key === 'ArrowUp')
      setAt((chosen + (key === 'ArrowDown' ? 1 : choices.length - 1)) % choices.length)
    else if ((key === 'Enter' || key === 'Tab') && !event.shiftKey) take(choices[chosen]!)
    else if (key === 'Escape') {
      closed.current = query!.start
      setQuery(undefined)
    } else return false
    event.preventDefault()
    return true
  }

  return {
    props: {
      'aria-autocomplete': 'list',
      ...(choices.length > 0 && { 'aria-controls': id, 'aria-activedescendant': `${id}-${chosen}` }),
      onKeyUp: ({ key }) => MOVES.includes(key) && read(),
      onClick: read,
      onBlur: () => setQuery(undefined),
    },
    list: choices.length > 0 ? <Choices id={id} choices={choices} chosen={chosen} onTake={take} /> : null,
    read,
    press,
  }
}

interface ChoicesProps {
  id: string
  choices: readonly MentionChoice[]
  chosen: number
  onTake: (choice: MentionChoice) => void
}

function Choices({ id, choices, chosen, onTake }: ChoicesProps) {
  return (
    <div class="completion" role="listbox" id={id} aria-label={texts.value.composer.mention}>
      {choices.map((choice, index) => (
        <div
          key={choice.id}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          onPointerDown={(event) => {
            // The field keeps the focus.
            event.preventDefault()
            onTake(choice)
          }}
        >
          {choice.username === undefined ? <AssistantAvatar /> : <Avatar id={choice.id} name={choice.name} />}
          <span class="name" dir="auto">
            {choice.name}
          </span>
          {choice.username !== undefined && (
            <small>
              <bdi>@{choice.username}</bdi>
            </small>
          )}
        </div>
      ))}
    </div>
  )
}
