import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { roomTexts } from '../texts/room.ts'
import { ChoiceSign } from './choice-sign.tsx'
import { FoundText } from './found-text.tsx'
import type { Choice } from './use-choices.ts'

interface OptionProps {
  id: string
  choice: Choice
  isChosen: boolean
  onTake: () => void
}

/** A conversation, a person or a message in the list of the switcher; the field keeps the focus. */
export function ChoiceOption({ id, choice, isChosen, onTake }: OptionProps) {
  const { name, username, conversation_id, message } = choice
  const option = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isChosen) option.current?.scrollIntoView({ block: 'nearest' })
  }, [isChosen])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: The keys are those of the field.
    <div
      ref={option}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      onPointerDown={(event) => event.preventDefault()}
      onClick={onTake}
    >
      {message ? <Icon name="search" /> : <ChoiceSign choice={choice} />}
      <span class="name" dir="auto">
        {message ? <FoundText result={message} /> : name}
      </span>
      <small>
        {message ? name : conversation_id === undefined ? roomTexts.value.switching.begin : username && `@${username}`}
      </small>
      {conversation_id === undefined && <Icon name="plus" />}
    </div>
  )
}
