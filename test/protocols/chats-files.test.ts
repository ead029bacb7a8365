import { expect, it } from 'vitest'
import { toAttachmentId } from '../../lib/protocols/chats/rules-files.ts'

const ID = '01890000-0000-7000-8000-000000000000'
const OWN = { path: '/chat/api/attachments/', hosts: ['chat.example.org', 'localhost:3000'] }

it.each([
  ['its id', ID],
  ['its path', `/chat/api/attachments/${ID}`],
  ['the path of its content', `/chat/api/attachments/${ID}/content`],
  ['a path with a query', `/chat/api/attachments/${ID}/content?inline=true`],
  ['its address at the public URL', `https://chat.example.org/chat/api/attachments/${ID}/content`],
  ['its address at the host of the call', `http://localhost:3000/chat/api/attachments/${ID}/content?inline=true#1`],
])('a file is named by %s', (_, name) => {
  expect(toAttachmentId(name, OWN)).toBe(ID)
})

it.each([
  ['nothing', ''],
  ['an address elsewhere', `https://example.org/chat/api/attachments/${ID}/content`],
  ['an address at another port', `http://localhost:3001/chat/api/attachments/${ID}/content`],
  ['an address without a scheme', `//example.org/chat/api/attachments/${ID}`],
  ['an address that browsers take for one elsewhere', `/\\example.org/chat/api/attachments/${ID}`],
  ['a host in the name of a user', `https://chat.example.org@example.org/chat/api/attachments/${ID}`],
  ['another scheme', `ftp://chat.example.org/chat/api/attachments/${ID}`],
  ['data', `data:text/plain,/chat/api/attachments/${ID}`],
  ['a path outside of the base path', `/api/attachments/${ID}/content`],
  ['a path behind another one', `/x/chat/api/attachments/${ID}/content`],
  ['another thing of the file', `/chat/api/attachments/${ID}/thumbnail`],
  ['the path of all files', '/chat/api/attachments/'],
  ['an id of another form', '/chat/api/attachments/0189000000007000800000000000000000000/content'],
])('a file is not named by %s', (_, name) => {
  expect(() => toAttachmentId(name, OWN)).toThrow(expect.objectContaining({ code: 'validation_failed' }))
})
