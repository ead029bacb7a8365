import { describe, expect, it } from 'vitest'
import { differsInCredentialsOnly } from '../../lib/config/database-url.ts'
import { parseConfig } from '../../lib/config/parse.ts'
import { planReload } from '../../lib/config/reload.ts'

const URL_NOW = 'postgres://chat:secret@db.example.org:5432/chat?sslmode=verify-full'

describe('the URL of a database', () => {
  it.each([
    ['another password', 'postgres://chat:new@db.example.org:5432/chat?sslmode=verify-full'],
    ['another user', 'postgres://next:secret@db.example.org:5432/chat?sslmode=verify-full'],
    ['no password', 'postgres://chat@db.example.org:5432/chat?sslmode=verify-full'],
    ['no user', 'postgres://db.example.org:5432/chat?sslmode=verify-full'],
    ['a password among its parameters', 'postgres://chat@db.example.org:5432/chat?password=n&sslmode=verify-full'],
    ['a user with escaped characters', 'postgres://a%40b:c%2Fd@db.example.org:5432/chat?sslmode=verify-full'],
  ])('can be reloaded with %s', (_, url) => {
    expect(differsInCredentialsOnly(URL_NOW, url)).toBe(true)
    expect(planReload(parseConfig({ database: { url: URL_NOW } }), parseConfig({ database: { url } }))).toMatchObject({
      next: { database: { url } },
      changed: ['database.url'],
      needs_restart: [],
    })
  })

  it.each([
    ['another host', 'postgres://chat:secret@db2.example.org:5432/chat?sslmode=verify-full'],
    ['another port', 'postgres://chat:secret@db.example.org:5433/chat?sslmode=verify-full'],
    ['another database', 'postgres://chat:secret@db.example.org:5432/other?sslmode=verify-full'],
    ['another parameter', 'postgres://chat:secret@db.example.org:5432/chat?sslmode=no-verify'],
    [
      'an at sign behind the host',
      'postgres://chat:secret@db2.example.org/x@db.example.org:5432/chat?sslmode=verify-full',
    ],
    ['SQLite', 'sqlite:chat.db'],
  ])('needs a restart with %s', (_, url) => {
    expect(planReload(parseConfig({ database: { url: URL_NOW } }), parseConfig({ database: { url } }))).toMatchObject({
      next: { database: { url: URL_NOW } },
      changed: [],
      needs_restart: ['database.url'],
    })
  })

  it('needs a restart from one file of SQLite to another', () => {
    expect(differsInCredentialsOnly('sqlite:one.db', 'sqlite:two.db')).toBe(false)
  })
})
