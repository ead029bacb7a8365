import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { type Finished, finished, type RunOptions, start } from './process.ts'

/** A `serve` process that listens. */
export interface Serving {
  child: ChildProcessWithoutNullStreams
  /** The first output on standard output. */
  greeting: string
  url: string
  /** Its complete output, once it has ended. */
  end: Promise<Finished>
}

/** Starts `chat-server serve` on a free port, in its own process. */
export async function serve(options: RunOptions, ...args: string[]): Promise<Serving> {
  const child = start(['serve', '--port', '0', ...args], options)
  const end = finished(child)
  const greeting = await Promise.race([once(child.stdout, 'data').then(([text]) => String(text)), end.then(fail)])
  return { child, greeting, url: /http:\/\/[^\s"]+:\d+|unix:[^\s"]+/.exec(greeting)![0], end }
}

/** Resolves once the service has written that to its log. */
export function logged({ child }: Pick<Serving, 'child'>, message: string): Promise<void> {
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
