// Packs the emoji of `emojibase-data` into texts that the page loads when an emoji is looked for: one of them in English, and
// the names in each other language.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const DATA = fileURLToPath(new URL('../node_modules/emojibase-data', import.meta.url))

/** The parts of faces and hands: no emoji of their own. */
const COMPONENTS = 2
/** Their names follow from their codes: the browser knows them. */
const COUNTRY_FLAGS = 98
const TONES = ['1F3FB', '1F3FC', '1F3FD', '1F3FE', '1F3FF']

/** Whether there are names in a language. */
export function hasNames(language) {
  return existsSync(`${DATA}/${language}/data.json`)
}

/**
 * All emoji, a line for each in the order of Unicode, with an empty line between two groups: how many tones of skin it takes (of
 * two people, 2), the emoji, its name, shortcodes that are not its name, and other words for it, with tabs between them.
 */
export async function packEmoji() {
  const all = await emojiOf('en')
  const shortcodes = await read('en/shortcodes/github.json')
  const lines = all.map((emoji, at) => {
    const { hexcode, type, label, tags, subgroup, skins, group } = emoji
    const gap = at > 0 && all[at - 1].group !== group ? '\n' : ''
    // The selector of the colored form is a part of those only that have another form.
    const text = type === 1 ? fromHex(hexcode) : emoji.emoji
    const sign = `${gap}${skins ? tonesOf(text, skins) : 0}${text}`
    if (subgroup === COUNTRY_FLAGS) return sign
    // As the page makes a shortcode of a name.
    const own = label.toLowerCase().replace(/[^\p{L}\p{N}+]+/gu, '_')
    const codes = [shortcodes[hexcode] ?? []].flat().filter((code) => code !== own)
    return line(sign, label, codes.join(' '), otherWords(tags, [label, ...codes]))
  })
  return lines.join('\n')
}

/** The names of all emoji in a language and other words for them, a line for each of `packEmoji`; of flags of countries it is empty. */
export async function packNames(language) {
  const [all, own] = [await emojiOf('en'), await emojiOf(language)]
  const byCode = new Map(own.map((emoji) => [emoji.hexcode, emoji]))
  return all
    .map(({ hexcode, subgroup }) => {
      const { label, tags } = byCode.get(hexcode) ?? {}
      return subgroup === COUNTRY_FLAGS || !label ? '' : line(label, otherWords(tags, [label]))
    })
    .join('\n')
}

async function emojiOf(language) {
  const all = await read(`${language}/data.json`)
  return all
    .filter(({ group }) => group !== undefined && group !== COMPONENTS)
    .sort((one, other) => one.order - other.order)
}

async function read(path) {
  return JSON.parse(await readFile(`${DATA}/${path}`, 'utf8'))
}

function fromHex(hexcode) {
  return String.fromCodePoint(...hexcode.split('-').map((code) => Number.parseInt(code, 16)))
}

/** How many tones an emoji takes: behind its first sign, or also at its end. */
function tonesOf(text, skins) {
  const [first, ...rest] = [...text]
  const tail = rest[0] === '\u{FE0F}' ? rest.slice(1) : rest
  const forms = TONES.map((code, at) => ({ tone: fromHex(code), skin: skins.find(({ tone }) => tone === at + 1) }))
  for (const count of [1, 2]) {
    const isSo = ({ tone, skin }) => skin.emoji === [first, tone, ...tail, count === 2 ? tone : ''].join('')
    if (forms.every(isSo)) return count
  }
  throw new Error(`The tones of ${text} are put in another way`)
}

/** Words for an emoji that its names do not have. */
function otherWords(tags = [], names) {
  const known = new Set(names.flatMap((name) => name.toLowerCase().split(/[^\p{L}\p{N}+]+/u)))
  return tags.filter((tag) => !tag.split(/[^\p{L}\p{N}+]+/u).every((word) => known.has(word))).join(',')
}

function line(...parts) {
  return parts.join('\t').trimEnd()
}
