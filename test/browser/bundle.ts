import { build } from 'esbuild'
import { ROOT } from '../support/example.ts'

/** Modules as one script that sets `chat` in a page. @param contents the source of a module in the root of the project */
export async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    format: 'iife',
    globalName: 'chat',
    platform: 'browser',
    write: false,
  })
  return outputFiles[0]!.text.replace('var chat =', 'window.chat =')
}
