import { extname } from 'node:path'
import { defineCommand as defineGroup } from 'citty'
import { stringifyTOML } from 'confbox'
import { maskSecrets } from '../../lib/config/parse.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { DEFAULT_FILE, loadConfig } from '../config/load.ts'
import { writeNewFile } from '../config/permissions.ts'
import { configTemplate } from '../config/template.ts'
import { refuseIfStrict, warningsOf } from '../config/warnings.ts'
import { oneLine, print, printNote } from '../output.ts'

const init = defineCommand({
  meta: { name: 'init', description: 'Write a configuration file with every key and its default' },
  example: 'chat-server config init --output chat-server.toml',
  args: {
    output: { type: 'string', valueHint: 'file', default: DEFAULT_FILE, description: 'Target file, in TOML' },
    force: { type: 'boolean', description: 'Replace an existing file' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    if (extname(args.output).toLowerCase() !== '.toml')
      throw new UsageError(`--output must end in .toml, not ${args.output}: the template is TOML`)
    await writeNewFile(args.output, configTemplate(), args)
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
    const warnings = [...loadWarnings, ...warningsOf(config)]
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
