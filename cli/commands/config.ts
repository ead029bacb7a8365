import { extname } from 'node:path'
import { defineCommand as defineGroup } from 'citty'
import { stringifyTOML } from 'confbox'
import { createAssistants } from '../../lib/assistant/assistants.ts'
import { maskSecrets } from '../../lib/config/reference.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { DEFAULT_FILE, loadConfig } from '../config/load.ts'
import { writeNewFile } from '../config/permissions.ts'
import { configTemplate, configTemplateYaml } from '../config/template.ts'
import { listWarnings, refuseIfStrict } from '../config/warnings.ts'
import { oneLine, print, printNote } from '../output.ts'

const TEMPLATES: Record<string, () => string> = {
  '.toml': configTemplate,
  '.yaml': configTemplateYaml,
  '.yml': configTemplateYaml,
}

const init = defineCommand({
  meta: { name: 'init', description: 'Write a configuration file with every key and its default' },
  example: 'chat-server config init --output chat-server.toml',
  args: {
    output: {
      type: 'string',
      valueHint: 'file',
      default: DEFAULT_FILE,
      description: 'Target file, in TOML or YAML by its ending',
    },
    force: { type: 'boolean', description: 'Replace an existing file' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const template = TEMPLATES[extname(args.output).toLowerCase()]
    // JSON has no comments.
    if (!template) throw new UsageError(`--output must end in .toml, .yaml or .yml, not ${args.output}`)
    await writeNewFile(args.output, template(), args)
    print(args, { output: args.output }, oneLine(`Written to ${args.output}.`))
  },
})

const check = defineCommand({
  meta: { name: 'check', description: 'Check that the configuration is valid' },
  example: 'chat-server config check --config chat-server.toml --strict',
  args: {
    strict: { type: 'boolean', description: 'Treat warnings as errors' },
    ...commonArgs,
  },
  run: ({ args }) => {
    const { config, file, warnings: loadWarnings } = loadConfig(args)
    const warnings = [...loadWarnings, ...listWarnings(config)]
    // Tools have schemas in files of their own.
    createAssistants(config, {})
    refuseIfStrict(warnings, args)
    warnings.forEach(printNote)
    print(args, { valid: true, ...(file && { file }), warnings }, oneLine(`${file ?? 'The configuration'} is valid.`))
  },
})

const show = defineCommand({
  meta: { name: 'print', description: 'Show the configuration in effect, secrets masked' },
  example: 'CHAT_SERVER__PORT=9000 chat-server config print',
  args: commonArgs,
  run: ({ args }) => {
    const { config, warnings } = loadConfig(args)
    warnings.forEach(printNote)
    const masked = maskSecrets(config)
    print(args, masked, stringifyTOML(masked).trimEnd())
  },
})

export default defineGroup({
  meta: { name: 'config', description: 'Write, check and show the configuration' },
  subCommands: { init, check, print: show },
})
