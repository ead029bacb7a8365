import { stringifyYAML } from 'confbox'
import { type ConfigKey, configKeys } from '../../lib/config/reference.ts'

/** A configuration file in TOML with every key commented out, with its default and reason. */
export function configTemplate(): string {
  const blocks = [...keysBySection()].map(([section, keys]) =>
    [...headingOf(section), ...keys.map(describeKey)].join('\n'),
  )
  return `# Every line shows a default. Remove its # to change it.\n\n${blocks.join('\n\n')}\n`
}

/**
 * The configuration template in YAML. Sections are commented out as well: one without keys would be `null`.
 */
export function configTemplateYaml(): string {
  const lines = ['# Every line shows a default. Remove the # and one space of a key, and of each section above it.', '']
  let open: string[] = []
  for (const [section, keys] of keysBySection()) {
    const names = section === '' ? [] : section.split('.').map((name) => name.replace(/[<>]/g, ''))
    if (names[0] !== open[0] && open.length > 0) lines.push('')
    const known = names.findIndex((name, depth) => name !== open[depth])
    for (const [depth, name] of names.entries())
      if (known !== -1 && depth >= known) lines.push(`# ${indent(depth)}${name}:`)
    open = names
    for (const key of keys) lines.push(...describeKeyYaml(key, indent(names.length)))
  }
  return `${lines.join('\n')}\n`
}

const indent = (depth: number) => '  '.repeat(depth)

function describeKeyYaml(key: ConfigKey, before: string): string[] {
  const name = key.key.slice(key.key.lastIndexOf('.') + 1)
  const [line] = stringifyYAML({ [name]: key.default ?? '' }, { flowLevel: 1, lineWidth: -1 }).split('\n')
  return [`#${before} # ${notesOf(key)}`, `# ${before}${line}`]
}

/** Keys of no section have none. A section with a free name is commented out, because it needs a name first. */
function headingOf(section: string): string[] {
  if (section === '') return []
  return [section.includes('<') ? `# [${section.replace(/[<>]/g, '')}]` : `[${section}]`]
}

/** The keys by their section in a file, such as `security.cookie`; those of none first, as files have them. */
export function keysBySection(): Map<string, ConfigKey[]> {
  const sections = new Map<string, ConfigKey[]>()
  for (const key of configKeys()) {
    const section = key.key.slice(0, Math.max(0, key.key.lastIndexOf('.')))
    sections.set(section, [...(sections.get(section) ?? []), key])
  }
  return sections
}

function describeKey(described: ConfigKey): string {
  const { key, default: fallback } = described
  const name = key.slice(key.lastIndexOf('.') + 1)
  // JSON strings, numbers, booleans and arrays of them are valid TOML as well.
  return `# ${notesOf(described)}\n# ${name} = ${JSON.stringify(fallback ?? '')}`
}

function notesOf({ choices, description, unit }: ConfigKey): string {
  return [description, ...(choices ? [`One of ${choices.join(', ')}.`] : []), ...(unit ? [`In ${unit}.`] : [])].join(
    ' ',
  )
}
