import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { onTestFinished } from 'vitest'

/** Serves the page with a version of the AI SDK for the current test. @returns its origin */
export async function servePage(version: number): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.tsx', import.meta.url))],
    alias: { ai6: `ai${version}`, 'ai-react6': `ai-react${version}` },
    // Where aliases are looked up.
    absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    platform: 'browser',
    // Version 5 has no approvals.
    logOverride: { 'import-is-undefined': 'silent' },
    write: false,
  })
  const server = createServer(({ url }, response) => {
    if (url !== '/page.js')
      return response.end('<!doctype html><script type="module" src="/page.js"></script><body></body>')
    return response.setHeader('content-type', 'text/javascript').end(outputFiles[0]!.text)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
