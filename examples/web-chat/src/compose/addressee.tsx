import { useApp } from '../app/context.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { texts } from '../texts/texts.ts'

interface AddresseeProps {
  /** Whether what is written goes to the assistant. */
  isAsking: boolean
  onChange: (isAsking: boolean) => void
}

/** To whom a message goes, where an assistant is offered. */
export function Addressee({ isAsking, onChange }: AddresseeProps) {
  const { assistant } = useApp().features
  const { composer } = texts.value
  if (!assistant) return null
  const label = composer.to(isAsking ? assistant.name : composer.all)
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
            <span dir="auto">{each ? assistant.name : composer.all}</span>
          </button>
        ))
      }
    </Menu>
  )
}
