import { commonArgs, defineCommand } from '../args/command.ts'
import { loadConfig } from '../config/load.ts'
import { ask, parseJson } from '../doctor/http.ts'
import { shownUrl, toLocalUrl } from '../doctor/server.ts'
import { oneLine, print } from '../output.ts'

export default defineCommand({
  meta: {
    name: 'health',
    description: 'Ask the service that runs here whether it is alive, or ready: exits with 0 or 1',
  },
  example: 'chat-server health --ready',
  args: {
    ready: {
      type: 'boolean',
      description: 'Whether it accepts requests (/readyz), not only whether it runs (/healthz)',
    },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const { config } = loadConfig(args)
    const url = toLocalUrl(config)
    if (!url) throw new Error('server.port is 0: the port of the service is unknown')
    const path = args.ready ? '/readyz' : '/healthz'
    const { status, body, failure } = await ask(`${url}${path}`)
    if (failure !== undefined) throw new Error(`no service responds at ${shownUrl(url)}: ${failure}`)
    const answer = parseJson(body) ?? {}
    const state = oneLine(String(answer.status ?? `status ${status}`))
    print(args, answer, `The service at ${shownUrl(url)} responds: ${state}.`)
    if (status !== 200) process.exitCode = 1
  },
})
