import { readdirSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { FUNCTIONS, LOOPS, USE_CASES } from '../../lib/features.ts'

const ROOT = new URL('../../', import.meta.url)

/** Where each use-case, and each function beside them, is written. */
export async function loadUseCases(): Promise<Map<unknown, { file: string; name: string }>> {
  const wanted = new Set(
    [USE_CASES, FUNCTIONS, LOOPS]
      .flatMap((each) => Object.values(each))
      .flatMap((each) => Object.values<unknown>(each)),
  )
  const found = new Map<unknown, { file: string; name: string }>()
  const folders = [
    'accounts',
    'chat',
    'cluster',
    'erasure',
    'limits',
    'mail',
    'openai-api',
    'ops',
    'tasks',
    'well-known',
  ]
  for (const folder of folders) {
    for (const path of readdirSync(new URL(`lib/${folder}`, ROOT), { recursive: true, encoding: 'utf8' }).sort()) {
      if (!path.endsWith('.ts') || path.endsWith('routes.ts')) continue
      const file = `lib/${folder}/${path}`
      const module: Record<string, unknown> = await import(pathToFileURL(fileURLToPath(new URL(file, ROOT))).href)
      for (const [name, value] of Object.entries(module))
        if (wanted.has(value as never) && !found.has(value)) found.set(value, { file, name })
    }
  }
  return found
}
