import { useApp } from '../app/context.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { texts } from '../texts/texts.ts'

interface AddresseeProps {
  /** Whether what is written goes to the assistant. */
  isAsking: boolean
  onChange: (isAsking: boolean) => void
  /** Who else reads it: all, or the other one of a direct conversation. */
  others: string
}

/** To whom a message goes, where an assistant is offered. */
export function Addressee({ isAsking, onChange, others }: AddresseeProps) {
  const { assistant } = useApp().features
  const { composer } = texts.value
  if (!assistant) return null
  const label = composer.to(isAsking ? assistant.name : others)
  return (
    <Menu
      label={label}
      class="chip"
      button={
        <>
          <span dir="auto">{label}</span>
          <Icon name="down" />
        </>
      }
    >
      {(close) =>
        [false, true].map((each) => (
          <button
            key={String(each)}
            type="button"
            aria-pressed={each === isAsking}
            onClick={() => {
              close()
              onChange(each)
            }}
          >
            <Icon name={each ? 'spark' : 'people'} />
            <span dir="auto">{each ? assistant.name : others}</span>
          </button>
        ))
      }
    </Menu>
  )
}
