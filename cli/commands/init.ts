import { resolve } from 'node:path'
import { defineCommand as defineGroup } from 'citty'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { loadConfig } from '../config/load.ts'
import type { Facts } from '../init/facts.ts'
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
      ...(target.args as { user?: { type: 'boolean' }; nodes?: { type: 'string' } } | undefined),
      ...commonArgs,
    },
    run: async ({ args }) => {
      const { config, file, warnings } = loadConfig(args)
      warnings.forEach(printNote)
      const facts: Facts = {
        config,
        file: file && resolve(file),
        output: resolve(args.output),
        root: packageRoot(),
        // Not `env node`: services have a PATH of their own.
        program: [process.execPath, resolve(process.argv[1]!)],
        nodes: nodesNamed(args.nodes),
        user: args.user === true,
      }
      target.notes?.(facts).forEach(printNote)
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

/** @throws UsageError for what is not a list of addresses */
function nodesNamed(list: unknown): string[] | undefined {
  if (typeof list !== 'string') return undefined
  const nodes = list.split(',').map((name) => name.trim())
  const wrong = nodes.find((name) => !NODE.test(name))
  if (wrong !== undefined) throw new UsageError(`--nodes: "${wrong}" is not host:port`)
  return nodes
}

const NODE = /^(?:[\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}$/

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
