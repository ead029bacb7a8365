import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import type { OfferedAssistant } from '../app/offered-assistant.ts'
import { texts } from '../texts/texts.ts'
import { Icon } from './icon.tsx'

/** How many colors avatars have: see `controls.css`. */
const COLORS = 8

interface AvatarProps {
  id: string
  name: string
  /** Of a person that was read for this place; of others it is known since the page has met them. */
  photo?: string | undefined
  presence?: string | undefined
}

/** The photo of a person; without one, the first letters of the name on a color of its own. The name is beside it. */
export function Avatar({ id, name, photo, presence }: AvatarProps) {
  const { people, client_options } = useApp()
  const [broken, setBroken] = useState<string>()
  const address = photo ?? people.known.value.get(id)?.avatar_url
  const isShown = address !== undefined && address !== broken
  return (
    <span
      class="avatar"
      data-color={colorOf(id)}
      data-initials={isShown ? undefined : initialsOf(name)}
      aria-hidden="true"
    >
      {isShown && (
        <img
          key={address}
          // The service names a path where it does not know its own address.
          src={new URL(address, client_options.base_url).href}
          alt=""
          loading="lazy"
          decoding="async"
          draggable={false}
          onError={() => setBroken(address)}
        />
      )}
      {presence !== undefined && presence !== 'offline' && <span class="dot" data-presence={presence} />}
    </span>
  )
}

/** The picture of an assistant, or its sign. */
export function AssistantAvatar({ info }: { info?: Pick<OfferedAssistant, 'title' | 'avatar_url'> | undefined }) {
  if (info?.avatar_url) return <Avatar id={info.title} name={info.title} photo={info.avatar_url} />
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
