import { texts } from '../texts/texts.ts'
import { Icon } from './icon.tsx'

/** How many colors avatars have: see `controls.css`. */
const COLORS = 8

/** The first letters of a name on a color of its own; the name is beside it. */
export function Avatar({ id, name, presence }: { id: string; name: string; presence?: string | undefined }) {
  return (
    <span class="avatar" data-color={colorOf(id)} data-initials={initialsOf(name)} aria-hidden="true">
      {presence !== undefined && presence !== 'offline' && <span class="dot" data-presence={presence} />}
    </span>
  )
}

/** Of the assistant, which has no letters. */
export function AssistantAvatar() {
  return (
    <span class="avatar assistant" aria-hidden="true">
      <Icon name="spark" />
    </span>
  )
}

/** What the dot on an avatar means, for those who do not see it. */
export function PresenceText({ presence }: { presence: 'online' | 'away' | 'offline' | undefined }) {
  return <span class="hidden">{texts.value.conversations[presence ?? 'offline']}</span>
}

/** Of the first and the last word. */
function initialsOf(name: string): string {
  const letters = name.split(/[\s._-]+/).flatMap((word) => /[\p{L}\p{N}]/u.exec(word)?.[0].toLocaleUpperCase() ?? [])
  return letters.length > 1 ? letters[0]! + letters.at(-1)! : (letters[0] ?? '#')
}

function colorOf(id: string): number {
  let sum = 0
  for (const character of id) sum = (sum * 31 + character.charCodeAt(0)) >>> 0
  return sum % COLORS
}
