// What the very first start prints: the keys, this once, and the first request to paste.

import type { BootstrapValues } from './management/bootstrap.ts'

/** `url` is where this server can be reached from this machine. */
export function greetingOf(values: BootstrapValues, url: string, bootstrapFile: string): string {
  const { project_id, project_api_key, personal_api_key, email } = values
  return `
Spate is ready. It made an organization, its owner ${email} and a project. These keys are shown this once
and kept in ${bootstrapFile}:

  project API key   ${project_api_key}   (public: for SDKs)
  personal API key  ${personal_api_key}   (secret: for the management API)

Send an event and read it back:

  curl -X POST ${url}/capture/ -H 'content-type: application/json' \\
    -d '{"api_key": "${project_api_key}", "event": "signed up", "distinct_id": "ada"}'
  curl -H 'authorization: Bearer ${personal_api_key}' ${url}/api/projects/${project_id}/events/

Everything it can do: ${url}/docs/

`
}
