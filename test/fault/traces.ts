import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { contextOf } from '../../lib/core/context-of.ts'
import type { Chat } from '../../lib/index.ts'
import { TABLES } from '../../lib/storage/archive/format.ts'
import { statement } from '../../lib/storage/sql.ts'

/** The tables that contain a word, and on SQLite the files in the folder of the database. */
export async function tracesOf(chat: Chat, url: string, word: string): Promise<string[]> {
  const { db } = contextOf(chat)
  const tables: string[] = []
  for (const [name] of TABLES) {
    if (JSON.stringify(await db.all(statement(`SELECT * FROM ${name}`))).includes(word)) tables.push(name)
  }
  if (db.dialect === 'postgresql') return tables
  const folder = dirname(url.slice('sqlite:'.length))
  return [...tables, ...readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(word))]
}
