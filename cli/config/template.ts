import { type ConfigKey, configKeys } from '../../lib/config/parse.ts'

/** A configuration file in TOML with every key commented out, with its default and reason. */
export function configTemplate(): string {
  const blocks = [...keysBySection()].map(([section, keys]) =>
    [headingOf(section), ...keys.map(describeKey)].join('\n'),
  )
  return `# Every line shows a default. Remove its # to change it.\n\n${blocks.join('\n\n')}\n`
}

/** A section with a free name is commented out, because it needs a name first. */
function headingOf(section: string): string {
  return section.includes('<') ? `# [${section.replace(/[<>]/g, '')}]` : `[${section}]`
}

/** The keys by their section in a file, such as `security.cookie`. */
export function keysBySection(): Map<string, ConfigKey[]> {
  const sections = new Map<string, ConfigKey[]>()
  for (const key of configKeys()) {
    const section = key.key.slice(0, key.key.lastIndexOf('.'))
    sections.set(section, [...(sections.get(section) ?? []), key])
  }
  return sections
}

function describeKey({ key, choices, default: fallback, description, unit }: ConfigKey): string {
  const name = key.slice(key.lastIndexOf('.') + 1)
  const notes = [description, ...(choices ? [`One of ${choices.join(', ')}.`] : []), ...(unit ? [`In ${unit}.`] : [])]
  // JSON strings, numbers, booleans and arrays of them are valid TOML as well.
  return `# ${notes.join(' ')}\n# ${name} = ${JSON.stringify(fallback ?? '')}`
}
