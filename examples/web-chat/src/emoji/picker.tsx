import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isComposing } from '../app/choices.ts'
import { announce } from '../parts/announcer.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { composeTexts } from '../texts/compose.ts'
import { language } from '../texts/language.ts'
import { texts } from '../texts/texts.ts'
import { type Emoji, findEmoji, withTone } from './emoji.ts'
import { EmojiGrid } from './grid.tsx'
import { keepRecent, recentEmoji, skinTone } from './kept-emoji.ts'
import { loadEmoji } from './load-emoji.ts'
import { Radios } from './radios.tsx'

/** How many that are found are shown. */
const MAX_FOUND = 96

/** The category of those that were chosen last. */
const RECENT = -1

/** What is seen of each category: one of its emoji, in the order of Unicode. */
const SIGNS = ['😀', '👋', '🐻', '🍎', '🚗', '⚽', '💡', '💠', '🏁']

/** Chooses an emoji, by a search or by categories, in a tone of skin. */
export function EmojiPicker({ onPick }: { onPick: (sign: string) => void }) {
  const { value: all, error } = useLoad(loadEmoji, [language.value])
  const { emoji: words } = composeTexts.value
  const recent = useMemo(recentEmoji, [])
  const [group, setGroup] = useState(recent.length > 0 ? RECENT : 0)
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const grid = useRef<HTMLDivElement>(null)
  const tone = Number(skinTone.value)
  const shown = useMemo(() => (all ? shownOf(all, text, group, recent) : []), [all, text, group])
  useLayoutEffect(() => {
    // On a phone, its keys would cover what is chosen from.
    if (matchMedia('(hover: hover)').matches) field.current?.focus()
  }, [])
  useEffect(() => {
    if (text !== '' && all) announce(shown.length > 0 ? words.found(shown.length) : words.none)
  }, [shown])

  function pick(sign: string): void {
    keepRecent(sign)
    onPick(sign)
  }

  const intoGrid = () => grid.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
  return (
    <div class="emoji-picker">
      <input
        ref={field}
        type="search"
        aria-label={words.search}
        placeholder={words.search}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (isComposing(event)) return
          if (event.key === 'ArrowDown') intoGrid()
          else if (event.key === 'Enter' && text !== '' && shown[0]) pick(signOf(shown[0], tone))
          else if (event.key !== 'Enter') return
          event.preventDefault()
        }}
      />
      {text === '' && (
        <Radios
          label={words.groups}
          value={String(group)}
          choices={[...(recent.length > 0 ? [RECENT] : []), ...SIGNS.keys()].map((each) => ({
            value: String(each),
            sign: each === RECENT ? '🕘' : SIGNS[each]!,
            name: each === RECENT ? words.recent : words.names[each]!,
          }))}
          onChange={(value) => setGroup(Number(value))}
        />
      )}
      <ErrorNote error={error} />
      {!all && error === undefined && <p class="quiet">{texts.value.loading}</p>}
      {all && text !== '' && shown.length === 0 && <p class="quiet">{words.none}</p>}
      {all && shown.length > 0 && (
        <EmojiGrid
          key={`${group} ${text}`}
          grid={grid}
          label={text !== '' ? words.title : group === RECENT ? words.recent : words.names[group]!}
          items={shown.map((each) => ({ sign: signOf(each, tone), name: each.name }))}
          onPick={pick}
          onLeave={() => field.current?.focus()}
        />
      )}
      <Radios
        label={words.tone}
        value={skinTone.value}
        choices={words.tones.map((name, at) => ({
          value: String(at),
          sign: withTone({ sign: '✋', tones: 1 }, at),
          name,
        }))}
        onChange={(value) => {
          skinTone.value = value as typeof skinTone.value
        }}
      />
    </div>
  )
}

/** An emoji to choose; one that was chosen has its tone. */
type Shown = Pick<Emoji, 'sign' | 'tones' | 'name'>

function shownOf(all: readonly Emoji[], text: string, group: number, recent: readonly string[]): readonly Shown[] {
  if (text.trim() !== '') return findEmoji(all, text, MAX_FOUND)
  if (group !== RECENT) return all.filter((each) => each.group === group)
  const plain = (sign: string) => sign.replace(/[\u{FE0F}\u{1F3FB}-\u{1F3FF}]/gu, '')
  const names = new Map(all.map(({ sign, name }) => [plain(sign), name]))
  return recent.map((sign) => ({ sign, tones: 0, name: names.get(plain(sign)) ?? sign }))
}

function signOf(emoji: Shown, tone: number): string {
  return withTone(emoji, tone)
}
