import type { OfferedAssistant } from '../app/offered-assistant.ts'
import { AssistantAvatar } from '../parts/avatar.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { texts } from '../texts/texts.ts'

interface AddresseeProps {
  /** The assistants that may be asked. */
  offered: readonly OfferedAssistant[]
  /** The one that what is written goes to; without one, all read it. */
  asked: OfferedAssistant | undefined
  onChange: (asked: OfferedAssistant | undefined) => void
  /** Who else reads it: all, or the other one of a direct conversation. */
  others: string
}

/** To whom a message goes, where an assistant is offered. */
export function Addressee({ offered, asked, onChange, others }: AddresseeProps) {
  const label = texts.value.composer.to(asked?.title ?? others)
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
        [undefined, ...offered].map((each) => (
          <button
            key={each?.key}
            type="button"
            aria-pressed={each === asked}
            onClick={() => {
              close()
              onChange(each)
            }}
          >
            {each?.avatar_url ? <AssistantAvatar info={each} /> : <Icon name={each ? 'spark' : 'people'} />}
            <span dir="auto">{each?.title ?? others}</span>
          </button>
        ))
      }
    </Menu>
  )
}
