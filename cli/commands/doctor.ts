import { commonArgs, defineCommand } from '../args/command.ts'
import { loadConfig } from '../config/load.ts'
import { describeFindings } from '../doctor/finding.ts'
import { print } from '../output.ts'

export default defineCommand({
  meta: {
    name: 'doctor',
    description: 'Check the configuration, the database, the path to the service, and upstream services',
  },
  example: 'chat-server doctor --config chat-server.toml',
  args: {
    'read-only': {
      type: 'boolean',
      description: 'Write nothing: skip the tests of the event stream and of the storage of files',
    },
    strict: { type: 'boolean', description: 'Exit with 1 for a warning as well' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const loaded = loadConfig(args)
    const { runChecks } = await import('../doctor/run-checks.ts')
    const findings = await runChecks(loaded, { readOnly: args['read-only'] === true })
    const wrong = findings.filter(({ severity }) => severity === 'error' || (args.strict && severity === 'warning'))
    print(args, { healthy: wrong.length === 0, findings }, describeFindings(findings))
    if (wrong.length > 0) process.exitCode = 1
  },
})
