import type { VNode } from 'preact'

/** What is offered for what is being typed. */
export interface Choice {
  id: string
  sign?: VNode | undefined
  name: string
  /** What it is in a text, if that is not what is seen. */
  code?: string | undefined
  /** What it does. */
  description?: string
  /** Whether it is all typed: then Enter sends it. */
  isWhole?: boolean
  /** Whether the text can be sent without it: then none is chosen at first, and Enter sends it. */
  isExtra?: boolean
  take: () => void
}

interface ChoicesProps {
  id: string
  label: string
  choices: readonly Choice[]
  chosen: number
}

/** What is offered, one of which may be chosen; the field keeps the focus. */
export function Choices({ id, label, choices, chosen }: ChoicesProps) {
  return (
    <div class="completion" role="listbox" id={id} aria-label={label}>
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
            choice.take()
          }}
        >
          {choice.sign}
          <span class="name" dir="auto">
            {choice.name}
          </span>
          {choice.code && (
            <small>
              <bdi>{choice.code}</bdi>
            </small>
          )}
          {choice.description && (
            <small class="about" dir="auto">
              {choice.description}
            </small>
          )}
        </div>
      ))}
    </div>
  )
}
