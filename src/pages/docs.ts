// /docs/: the API's own description as a page to read and to try it from, without the internet. Swagger UI's files are
// served as its package brings them, under its version, so that browsers may keep them for ever.

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ServiceError } from '../errors.ts'
import type { Route } from '../http/route.ts'
import { type FileKind, fileReply, pageRoute } from './page.ts'

/** The files of the package that the page needs; no others are served. */
const files: Readonly<Record<string, FileKind>> = {
  'swagger-ui.css': 'css',
  'swagger-ui-bundle.js': 'js',
  'favicon-32x32.png': 'png',
}

// The address of the description is the only thing the page asks for by itself: no validator's badge.
const start = `window.ui = SwaggerUIBundle({
  url: '/api/schema/',
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
})
`

/** Errors: whatever reading the package's own description fails with; it is installed or nothing runs. */
export function docsRoutes(): Route[] {
  const manifest = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string } // every package has one
  const folder = dirname(manifest)
  const page = pageOf(`/docs/${version}`)
  return [
    pageRoute('/docs', () => fileReply('html', page)),
    pageRoute('/docs/start.js', () => fileReply('js', start)),
    pageRoute('/docs/:version/:file', async ({ params }) => {
      const { file = '' } = params
      const kind = Object.hasOwn(files, file) ? files[file] : undefined
      if (kind === undefined || params.version !== version) throw new ServiceError('not_found')
      return fileReply(kind, await readFile(join(folder, file)), true)
    }),
  ]
}

function pageOf(base: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Spate API</title>
<link rel="icon" type="image/png" href="${base}/favicon-32x32.png">
<link rel="stylesheet" href="${base}/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<noscript>This page needs JavaScript. The description itself is at <a href="/api/schema/">/api/schema/</a>.</noscript>
<script src="${base}/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`
}
