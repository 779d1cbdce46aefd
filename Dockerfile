# SPDX-License-Identifier: Apache-2.0
# The relay server: docker build -t postrider . && docker run -v ./postrider.yaml:/etc/postrider/postrider.yaml postrider
FROM eclipse-temurin:17-jdk AS build
WORKDIR /source
COPY . .
RUN ./mvnw --batch-mode --no-transfer-progress package -pl cli -am -Dmaven.test.skip -Dspotless.check.skip

FROM eclipse-temurin:17-jre
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin postrider
COPY --from=build /source/cli/target/postrider /usr/local/bin/postrider
USER 10001
# Passwords come from the environment when it runs; none is in the image.
ENV POSTRIDER_CONFIG=/etc/postrider/postrider.yaml \
    POSTRIDER_JAVA_OPTS=-XX:MaxRAMPercentage=60
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["postrider", "serve", "--probe"]
ENTRYPOINT ["postrider"]
CMD ["serve"]
