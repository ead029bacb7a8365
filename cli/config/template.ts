import { type ConfigKey, configKeys } from '../../lib/config/parse.ts'

/** A configuration file in TOML that changes nothing yet: every key, commented out, with its default and reason. */
export function configTemplate(): string {
  const blocks = [...keysBySection()].map(([section, keys]) =>
    [headingOf(section), ...keys.map(describeKey)].join('\n'),
  )
  return `# Every line shows a default. Take its # away to change it.\n\n${blocks.join('\n\n')}\n`
}

/** Where the name is free there is nothing to be set before it has one. */
function headingOf(section: string): string {
  return section.includes('<') ? `# [${section.replace(/[<>]/g, '')}]` : `[${section}]`
}

/** The keys under the headings they have in a file, `security.cookie` for one. */
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
  // JSON's texts, numbers, booleans and lists of them are TOML's as well.
  return `# ${notes.join(' ')}\n# ${name} = ${JSON.stringify(fallback ?? '')}`
}
