import { resolve } from 'node:path'
import { defineCommand as defineGroup } from 'citty'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { loadConfig } from '../config/load.ts'
import type { Target } from '../init/target.ts'
import { TARGETS } from '../init/targets.ts'
import { fillIn, packageRoot, writeAll } from '../init/write.ts'
import { oneLine, print, printNote } from '../output.ts'

const forProgram = (name: string, target: Target) =>
  defineCommand({
    meta: { name, description: target.description },
    example: `chat-server init ${name} --output deploy`,
    args: {
      output: { type: 'string', valueHint: 'folder', default: '.', description: 'Target folder' },
      force: { type: 'boolean', description: 'Replace existing files' },
      stdout: { type: 'boolean', description: 'Print the file instead of writing it' },
      ...commonArgs,
    },
    run: async ({ args }) => {
      const { config, file, warnings } = loadConfig(args)
      warnings.forEach(printNote)
      const facts = { config, file: file && resolve(file), output: resolve(args.output), root: packageRoot() }
      const files = fillIn(target, facts)
      const next = target.next(facts)
      if (args.stdout) {
        if (files.length > 1 && !args.json)
          throw new UsageError(`${name} has several files: use --output, or --stdout --json`)
        print(args, { files, next }, files[0]!.text.trimEnd())
        return
      }
      await writeAll(files, { force: args.force ?? false })
      const written = files.map(({ path }) => path)
      const lines = [
        'Written:',
        ...written.map(oneLine).map(indent),
        '',
        `Next, in ${oneLine(facts.output)}:`,
        ...next.map(indent),
      ]
      print(args, { files: written, next }, lines.join('\n'))
    },
  })

function indent(line: string): string {
  return `  ${line}`
}

export default defineGroup({
  meta: {
    name: 'init',
    description: 'Write files that run, proxy or monitor the service, filled in from the configuration',
  },
  subCommands: Object.fromEntries(Object.entries(TARGETS).map(([name, target]) => [name, forProgram(name, target)])),
})
