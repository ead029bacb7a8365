import { marker } from './marker.ts'
import type { Step } from './reader.ts'
import { postContent } from './template.ts'

/** The beginning of a stream from a client. */
export function streamHeader(domain: string): string {
  return `<?xml version='1.0'?><stream:stream to='${domain}' version='1.0' xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>`
}

/** Signs a user in on a stream (RFC 6120: SASL PLAIN, a bound resource), and joins a room (XEP-0045) without its history. */
export function joinSteps(domain: string, room: string, user: string): Step[] {
  const stream = streamHeader(domain)
  const credentials = Buffer.from(`\0${user}\0secret`).toString('base64')
  return [
    { send: stream, until: '</stream:features>' },
    {
      send: `<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>${credentials}</auth>`,
      until: '<success',
    },
    { send: stream, until: '</stream:features>' },
    { send: "<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>", until: '</jid>' },
    {
      send: `<presence to='${room}/${user}'><x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x></presence>`,
      // The room's subject ends the joining.
      until: '<subject',
    },
  ]
}

/** A message to a room, cut in two where its marker stands. */
export function messageTemplate(room: string): readonly [string, string] {
  const content = postContent(0)
  const at = content.length - marker(0).length
  return [`<message to='${room}' type='groupchat'><body>${content.slice(0, at)}`, '</body></message>']
}
