/** The paths of the icons, drawn in a square of 24 by lines. */
const PATHS = {
  back: 'M15 5l-7 7 7 7',
  next: 'M9 5l7 7-7 7',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L20 20',
  plus: 'M12 5v14M5 12h14',
  jump: 'M12 5v14M6 13l6 6 6-6',
  down: 'M6 9l6 6 6-6',
  send: 'M5 12h13M12 5l7 7-7 7',
  spark:
    'M12 3l1.9 5.6a2.4 2.4 0 0 0 1.5 1.5L21 12l-5.6 1.9a2.4 2.4 0 0 0-1.5 1.5L12 21l-1.9-5.6a2.4 2.4 0 0 0-1.5-1.5L3 12l5.6-1.9a2.4 2.4 0 0 0 1.5-1.5z',
  reply: 'M9 7l-5 5 5 5M4 12h10a6 6 0 0 1 6 6v1',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  smile: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8.5 14.5a4.5 4.5 0 0 0 7 0M9 9.5h.01M15 9.5h.01',
  edit: 'M4 20h4L19 9a2.1 2.1 0 0 0-4-4L4 16zM13.5 6.5l4 4',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20a6 6 0 0 1 12 0M16 4.3a3.5 3.5 0 0 1 0 6.4M17.5 14.5A6 6 0 0 1 21 20',
  close: 'M6 6l12 12M18 6L6 18',
  stop: 'M7 7h10v10H7z',
  check: 'M5 12l5 5L19 7',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  chat: 'M4 6a2 2 0 0 1 2-2h12a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-7l-4 3v-3H6a2 2 0 0 1-2-2z',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 20.5a2.2 2.2 0 0 0 4 0',
  link: 'M10 14a4 4 0 0 0 5.7 0l3.1-3.1a4 4 0 0 0-5.7-5.7L12 6.3M14 10a4 4 0 0 0-5.7 0l-3.1 3.1a4 4 0 0 0 5.7 5.7l1.1-1.1',
  pin: 'M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v5',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  again: 'M19 12a7 7 0 1 1-2-5l2 2M19 4v5h-5',
  shield: 'M12 3l7 3v5.5c0 4.4-2.9 7.6-7 9.5-4.1-1.9-7-5.1-7-9.5V6zM9 12l2.2 2.2L15.5 10',
  archive: 'M4 5h16v4H4zM5.5 9v10h13V9M10 13h4',
  settings:
    'M4 7h10M18 7h2M4 17h2M10 17h10M16 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  muted: 'M6 16V11a6 6 0 0 1 9.5-4.9M18 11v5l1.5 2H8M10 20.5a2.2 2.2 0 0 0 4 0M4 4l16 16',
  clip: 'M19 11l-7.5 7.5a4.6 4.6 0 0 1-6.5-6.5L13 4a3.1 3.1 0 0 1 4.4 4.4l-7.7 7.7a1.5 1.5 0 0 1-2.2-2.2L14.5 7',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  star: 'M12 4l2.4 5 5.6.7-4.1 3.8 1.1 5.5-5-2.8-5 2.8 1.1-5.5L4 9.7 9.6 9z',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  good: 'M8 11v9H4v-9zM8 12l3.5-8a2.2 2.2 0 0 1 2 2.5L13 10h5.2a1.8 1.8 0 0 1 1.7 2.2l-1.3 6.3A2 2 0 0 1 16.6 20H8',
  poor: 'M16 13V4h4v9zM16 12l-3.5 8a2.2 2.2 0 0 1-2-2.5L11 14H5.8a1.8 1.8 0 0 1-1.7-2.2l1.3-6.3A2 2 0 0 1 7.4 4H16',
  out: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
} as const

export type IconName = keyof typeof PATHS

/** An icon beside a text, or in a button that has a label: it has no meaning of its own. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" data-icon={name} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
