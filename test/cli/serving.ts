import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { type Finished, finished, start } from './process.ts'

/** What makes a command quick, and its database a file in its folder. */
export const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__URL: 'sqlite:chat.db' }

/** A service that the command line has started. */
export interface Serving {
  child: ChildProcessWithoutNullStreams
  greeting: string
  url: string
  end: Promise<Finished>
}

/** Serves in a folder until the test ends it, with more of the environment or arguments. */
export async function serve(
  cwd: string,
  more: { args?: string[]; env?: Record<string, string> } = {},
): Promise<Serving> {
  const args = ['serve', '--port', '0', ...(more.args ?? [])]
  const child = start(args, { cwd, env: { ...env, ...more.env } })
  const end = finished(child)
  const greeting = await Promise.race([once(child.stdout, 'data').then(([text]) => String(text)), end.then(fail)])
  return { child, greeting, url: /http:\/\/[^\s"]+:\d+/.exec(greeting)![0], end }
}

/** Resolves once the service has written that to its log. */
export function logged({ child }: Serving, message: string): Promise<void> {
  return new Promise((resolve) => {
    let seen = ''
    child.stderr.on('data', (text) => {
      seen += text
      if (seen.includes(message)) resolve()
    })
  })
}

function fail({ code, stderr }: Finished): never {
  throw new Error(`It ended with ${code}: ${stderr}`)
}
