import { EMOJI, NAMES } from 'virtual:emoji'
import { composeTexts } from '../texts/compose.ts'
import { language } from '../texts/language.ts'
import { type Emoji, type FlagNames, readEmoji } from './emoji.ts'

const loaded = new Map<string, Promise<readonly Emoji[]>>()

/** All emoji, with their names in English and in the language of the page. They are loaded once; after a failure, the next time. */
export function loadEmoji(): Promise<readonly Emoji[]> {
  const { value } = language
  const known = loaded.get(value)
  if (known) return known
  const loading = load(value)
  loaded.set(value, loading)
  loading.catch(() => loaded.delete(value))
  return loading
}

async function load(code: string): Promise<readonly Emoji[]> {
  const [emoji, names] = await Promise.all([EMOJI(), NAMES[code]?.()])
  const flags = [flagsIn('en', 'flag'), ...(names ? [flagsIn(code, composeTexts.peek().emoji.flag)] : [])]
  return readEmoji(emoji.default, names?.default, flags)
}

function flagsIn(code: string, flag: string): FlagNames {
  const regions = new Intl.DisplayNames([code], { type: 'region' })
  return { flag, regionOf: (region) => regions.of(region) }
}
