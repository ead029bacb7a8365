import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** What an export has, by name and by path. */
export interface ExportedLists {
  /** Names of the lists in the folder. */
  lists: readonly string[]
  /** Paths of the lists of messages. */
  conversations: readonly string[]
}

// Texts are shown as text: nothing that a user has written runs, and the page loads nothing.
const HEAD = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Data of a user</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
dl { border-top: 1px solid #ccc; margin: 0; padding: .5rem 0; display: grid; grid-template-columns: 10rem 1fr }
dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
dt { color: #666 }
</style>
<h1>Data of a user</h1>
`

/** Writes `index.html` of the lists that are in the folder, an item in memory at a time. */
export async function writePage(folder: string, { lists, conversations }: ExportedLists): Promise<void> {
  const page = await open(join(folder, 'index.html'), 'wx', 0o600)
  try {
    await page.write(HEAD)
    for (const name of lists) await addList(page, folder, `${name}.json`)
    await page.write('<h1>Messages</h1>\n')
    for (const path of conversations) await addList(page, folder, path)
  } finally {
    await page.close()
  }
}

async function addList(page: { write(text: string): Promise<unknown> }, folder: string, path: string): Promise<void> {
  await page.write(`<h2>${escaped(path)}</h2>\n`)
  // An item is a line; the first and the last one have the brackets.
  for await (const line of createInterface({ input: createReadStream(join(folder, path)), crlfDelay: Infinity })) {
    if (!line.startsWith('{')) continue
    await page.write(`${described(JSON.parse(line.replace(/,$/, '')))}\n`)
  }
}

function described(item: Record<string, unknown>): string {
  const fields = Object.entries(item).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `<dt>${escaped(name)}</dt><dd>${name === 'file' ? linked(text) : escaped(text)}</dd>`
  })
  return `<dl>${fields.join('')}</dl>`
}

/** The path of a file of the export has characters of ids only. */
const linked = (path: string) => `<a href="${escaped(path)}">${escaped(path)}</a>`

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}
