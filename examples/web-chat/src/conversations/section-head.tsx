import { canOf, type ServiceCanView } from 'chat-server/client/parts'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { texts } from '../texts/texts.ts'
import { openings, type Section } from './sections.ts'

interface HeadProps {
  section: Section
  isOpen: boolean
  onCreate: (section: Section) => void
}

/** The name of a section, which collapses it, and a button for another conversation in it; a favourite is chosen, not made. */
export function SectionHead({ section, isOpen, onCreate }: HeadProps) {
  const { store } = useApp()
  const { can } = useReadable(canOf(store).service)
  const { sections, create } = texts.value.conversations
  return (
    <li class="section-head" data-head>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => {
          openings[section].value = isOpen ? 'closed' : 'open'
        }}
      >
        <Icon name="back" />
        {sections[section]}
      </button>
      {section !== 'favourites' && mayCreate(can, section) && (
        <IconButton icon="plus" label={create[section]} onClick={() => onCreate(section)} />
      )}
    </li>
  )
}

/** Whether the user makes conversations of a section, or finds rooms to join. */
function mayCreate(can: ServiceCanView['can'], section: Section): boolean {
  if (section === 'direct') return !!can?.open_direct
  return !!can?.create_conversations || (section === 'rooms' && !!can?.browse)
}
