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
      {section !== 'favourites' && <IconButton icon="plus" label={create[section]} onClick={() => onCreate(section)} />}
    </li>
  )
}
